package torch

// AverageMeter of timm adds up what it is given, its graph too. Its scalers are
// called with a loss and an optimizer.
var timm = Library{
	Packages: []string{"timm"},
	Source:   "timm documentation, Models; its sources utils/metrics.py and utils/cuda.py",
	Calls: map[Role]string{
		MakesModel:  `create_model models.*`,
		MakesHelper: `AverageMeter NativeScaler ApexScaler`,
		Trains:      `NativeScaler.__call__ ApexScaler.__call__`,
		Collects:    `AverageMeter.update`,
		Resets:      `AverageMeter.reset`,
		Passes:      `reduce_tensor`,
	},
}

// Layers of PyTorch Geometric are classes; its pooling functions keep the graph.
var geometric = Library{
	Packages: []string{"torch_geometric"},
	Source:   "PyTorch Geometric documentation, torch_geometric.nn",
	Calls: map[Role]string{
		Passes:     `global_*_pool global_sort_pool to_dense_batch softmax scatter dense_diff_pool add_self_loops`,
		MakesModel: `nn.[A-Z]* nn.*.[A-Z]*`,
	},
	Hosts: []Host{{Class: "MessagePassing", Module: true}},
}

var dgl = Library{
	Packages: []string{"dgl"},
	Source:   "DGL documentation, dgl.nn.pytorch and message passing",
	Calls: map[Role]string{
		Passes:     `mean_nodes sum_nodes max_nodes softmax_nodes edge_softmax`,
		MakesModel: `nn.[A-Z]* nn.*.[A-Z]*`,
	},
}

var torchvision = Library{
	Packages: []string{"torchvision"},
	Source:   "Torchvision documentation, Models and pre-trained weights",
	Calls:    map[Role]string{MakesModel: `models.*`},
}

var hub = Library{
	Packages: []string{"torch.hub"},
	Source:   "PyTorch documentation, torch.hub",
	Calls:    map[Role]string{MakesModel: `load`},
}

var segmentation = Library{
	Packages: []string{"segmentation_models_pytorch"},
	Source:   "Segmentation Models documentation, Segmentation Models",
	Calls:    map[Role]string{MakesModel: `Unet UnetPlusPlus MAnet Linknet FPN PSPNet PAN DeepLabV3 DeepLabV3Plus UPerNet Segformer DPT create_model`},
}

var efficientnet = Library{
	Packages: []string{"efficientnet_pytorch"},
	Source:   "EfficientNet PyTorch, Usage",
	Calls:    map[Role]string{MakesModel: `EfficientNet EfficientNet.from_pretrained EfficientNet.from_name`},
}

var openCLIP = Library{
	Packages: []string{"open_clip"},
	Source:   "OpenCLIP, Usage",
	Calls:    map[Role]string{MakesModel: `create_model`},
}
