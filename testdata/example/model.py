"""The network: four convolution blocks and a linear classifier."""

from torch import nn


class ConvBlock(nn.Sequential):
    """A convolution that halves the image, with normalisation and ReLU."""

    def __init__(self, channels_in, channels_out):
        super().__init__(
            nn.Conv2d(channels_in, channels_out, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(channels_out),
            nn.ReLU(),
        )


class FlowerNet(nn.Module):
    def __init__(self, classes=102):
        super().__init__()
        self.features = nn.Sequential(
            ConvBlock(3, 64),
            ConvBlock(64, 128),
            ConvBlock(128, 256),
            ConvBlock(256, 512),
        )
        self.pool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Linear(512, classes)

    def forward(self, images):
        features = self.pool(self.features(images)).flatten(1)
        return self.classifier(features)
