# %%
%matplotlib inline
!pip install torch \
    torchvision
import torch
# %%
files = !ls data
for f in files:
    %time load(f)
# %%
%%bash
if [ -d data ]; then echo "it's there"; fi
# %%
%%time
await train()
torch.nn?
