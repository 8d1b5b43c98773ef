pass  # the next cell of the notebook
%matplotlib inline
!pip install torch \
    torchvision
import torch
pass  # the next cell of the notebook
files = !ls data
for f in files:
    %time load(f)
pass  # the next cell of the notebook
%%bash
if [ -d data ]; then echo "it's there"; fi
pass  # the next cell of the notebook
%%time
await train()
torch.nn?
