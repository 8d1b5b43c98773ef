// Package torch says, as data, what PyTorch and its frameworks do to the
// autograd graph: which calls build one and what they save for backward, which
// cut it, which have none, which run backward, and which change whether
// operations are recorded.
//
// The facts come from PyTorch's derivative formulas and from measuring live
// bytes, nodes and saved tensors of small programs.
package torch

import "strings"

// Mentions are words of which a program that uses PyTorch contains at least one,
// unless it leaves that to a framework.
var Mentions = []string{"torch", ".backward("}

// Frameworks are the packages on top of PyTorch that a program may import
// instead.
var Frameworks = set(`lightning accelerate transformers fastai ignite catalyst timm deepspeed diffusers peft trl dgl detectron2 mmcv mmengine`)

// Effect is what a call does to the graph of its result.
type Effect uint8

const (
	// Unknown calls neither attach nor cut.
	Unknown Effect = iota
	// Keeps: the result carries the graph of the tensors that went in.
	Keeps
	// NoGraph: the result is a tensor that carries no graph.
	NoGraph
	// Detaches: the result is a tensor that shares its storage with the input
	// and carries no graph.
	Detaches
	// Leaves: the result is a plain Python or NumPy value.
	Leaves
	// Splits: the result is a pair of values that carry the graph and indices
	// that do not.
	Splits
	// Pieces: the result is a sequence of tensors that carry the graph.
	Pieces
)

// Size is what is known of the number of elements of a tensor.
type Size uint8

// The sizes that matter: a Scalar costs nothing to keep but its graph.
const (
	AnySize Size = iota
	Scalar
)

// Contract is what is known of one function or method.
type Contract struct {
	Effect Effect
	// Saves says that the operation keeps tensors of the size of its operands
	// for backward, until a backward runs through it.
	Saves bool
	// Reduces says that the result is a scalar when no dimension is given.
	Reduces bool
	// SavesPairs says that it does so only when more than one operand is a
	// tensor: a factor that is a number is not saved.
	SavesPairs bool
	// SavesByDim says that it does so only when it reduces some dimensions.
	SavesByDim bool
	// Alone says that only the receiver brings a graph: the other arguments are
	// dimensions, types, devices.
	Alone bool
	// View says that the result shares the storage of the receiver.
	View bool
}

// words makes one contract known under many names.
func words(into map[string]Contract, c Contract, names string) {
	for _, name := range strings.Fields(names) {
		into[name] = c
	}
}

// operations are what tensors offer as methods and torch as functions alike.
var operations = func() map[string]Contract {
	m := map[string]Contract{}
	words(m, Contract{Effect: Keeps}, `
		add sub subtract rsub
		cat concat concatenate stack hstack vstack dstack column_stack pad roll flip fliplr flipud rot90 cumsum
		index_select repeat tile masked_fill where scatter_add
		index_add index_fill index_copy pin_memory positive deg2rad rad2deg real imag conj tril triu meshgrid
		block_diag cartesian_prod combinations ceil floor round trunc frac sign heaviside
		requires_grad_ resolve_conj set_to_none coalesce to_dense to_sparse pixel_shuffle pixel_unshuffle interpolate upsample
		lerp channel_shuffle unfold fold index_put slice_scatter select_scatter diagonal_scatter as_tensor`)
	words(m, Contract{Effect: Keeps, Alone: true}, `
		neg negative clone contiguous cpu cuda to type type_as float double half bfloat16 xpu npu mps`)
	words(m, Contract{Effect: Keeps, View: true, Alone: true}, `
		view view_as reshape reshape_as flatten unflatten squeeze unsqueeze transpose permute t movedim moveaxis swapaxes swapdims
		expand expand_as narrow select diagonal diag ravel as_strided atleast_1d atleast_2d atleast_3d broadcast_to T mT H`)
	words(m, Contract{Effect: Keeps, Reduces: true, Alone: true}, `sum trace`)
	words(m, Contract{Effect: Keeps, Reduces: true, SavesByDim: true, Alone: true}, `mean`)
	words(m, Contract{Effect: Keeps, Saves: true, Reduces: true}, `nansum nanmean`)
	words(m, Contract{Effect: Keeps, SavesPairs: true}, `mul multiply div divide true_divide floor_divide fmod remainder`)
	words(m, Contract{Effect: Keeps, Saves: true}, `
		masked_select take take_along_dim gather repeat_interleave scatter clamp_min clamp_max nan_to_num`)
	words(m, Contract{Effect: Keeps}, `trapz unique unique_consecutive normal`)
	words(m, Contract{Effect: Keeps, Saves: true}, `
		pow float_power square sqrt rsqrt exp exp2 expm1 log log2 log10 log1p
		abs absolute reciprocal sin cos tan asin acos atan atan2 sinh cosh tanh asinh acosh atanh sigmoid relu relu6 leaky_relu elu selu celu gelu silu mish
		softplus softsign hardtanh hardswish hardsigmoid hardshrink softshrink tanhshrink threshold prelu rrelu glu logsigmoid
		softmax log_softmax softmin gumbel_softmax normalize dropout alpha_dropout feature_alpha_dropout dropout1d dropout2d dropout3d
		matmul mm bmm mv dot inner outer addmm addmv addbmm baddbmm addr einsum tensordot kron cross chain_matmul linear bilinear
		conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d
		adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool2d lp_pool2d
		batch_norm layer_norm group_norm instance_norm local_response_norm rms_norm embedding embedding_bag
		scaled_dot_product_attention multi_head_attention_forward grid_sample affine_grid
		clamp clip maximum minimum fmax fmin cumprod logcumsumexp erf erfc erfinv lgamma digamma xlogy logaddexp logaddexp2 hypot
		addcmul addcdiv cdist cosine_similarity pairwise_distance pdist renorm svd qr eig linalg_norm inverse pinverse det logdet slogdet cholesky solve lstsq matrix_exp
		fft ifft rfft irfft stft istft bernoulli sinc
		log_prob rsample entropy cdf icdf kl_divergence`)
	words(m, Contract{Effect: Keeps, Saves: true, Reduces: true}, `
		norm var std prod logsumexp amax amin dist`)
	words(m, Contract{Effect: Keeps, Saves: true, Reduces: true}, `
		cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss binary_cross_entropy binary_cross_entropy_with_logits kl_div
		cosine_embedding_loss margin_ranking_loss triplet_margin_loss triplet_margin_with_distance_loss hinge_embedding_loss
		poisson_nll_loss gaussian_nll_loss soft_margin_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss ctc_loss`)
	words(m, Contract{Effect: Splits, Saves: true}, `max min median nanmedian mode sort topk kthvalue cummax cummin max_pool2d_with_indices aminmax`)
	words(m, Contract{Effect: Pieces}, `split chunk unbind tensor_split hsplit vsplit dsplit split_with_sizes unsafe_split unsafe_chunk`)
	words(m, Contract{Effect: NoGraph}, `
		argmax argmin argsort eq ne lt le gt ge not_equal greater greater_equal less less_equal isnan isinf isfinite isclose isin
		logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not all any nonzero argwhere count_nonzero
		searchsorted bucketize bincount histc multinomial long int short byte bool char
		new_tensor new_zeros new_ones new_full new_empty zeros_like ones_like full_like empty_like rand_like randn_like randint_like
		zeros ones full empty eye arange linspace logspace rand randn randint randperm tensor from_numpy frombuffer
		sample sample_n tril_indices triu_indices one_hot hamming_window hann_window is_nonzero`)
	words(m, Contract{Effect: Detaches}, `detach data asarray`)
	words(m, Contract{Effect: Leaves}, `
		item tolist numpy size dim ndimension numel nelement element_size stride storage_offset is_contiguous is_floating_point
		is_complex get_device data_ptr shape dtype device ndim requires_grad is_leaf is_cuda layout names retains_grad is_tensor
		equal allclose __len__ __format__ __repr__ hash nbytes itemsize storage untyped_storage`)
	return m
}()

// Method is the contract of a method or property of a tensor. In-place
// variants (a trailing underscore) have the contract of their base.
func Method(name string) (Contract, bool) {
	c, ok := operations[name]
	if !ok && InPlace(name) {
		c, ok = operations[strings.TrimSuffix(name, "_")]
		if !ok {
			c, ok = Contract{Effect: Keeps}, inPlaceOnly[name]
		}
	}
	return c, ok
}

// InPlace reports whether a method writes its receiver, by PyTorch's naming
// convention.
func InPlace(name string) bool {
	return len(name) > 1 && strings.HasSuffix(name, "_") && !strings.HasSuffix(name, "__") && name != "requires_grad_" && name != "share_memory_"
}

// inPlaceOnly are in-place methods without an out-of-place twin.
var inPlaceOnly = map[string]bool{"copy_": true, "zero_": true, "fill_": true, "uniform_": true, "normal_": true,
	"detach_": true, "random_": true, "exponential_": true, "set_": true, "resize_": true, "bernoulli_": true, "index_put_": true}

// Overwrites are in-place methods whose result does not depend on what the
// tensor was: it has no graph.
var Overwrites = set(`detach_ zero_ fill_ normal_ uniform_ random_ set_ resize_`)

// Blends are operations that mix an old value with a new one, or scale it: what
// a running average is made of.
var Blends = set(`lerp lerp_ mul mul_ multiply multiply_ div div_ divide divide_`)

// Joins are operations that put tensors one behind the other.
var Joins = set(`cat concat concatenate stack hstack vstack dstack column_stack`)

// TensorAttributes are attributes that tell tensors from numbers.
var TensorAttributes = set(`detach item grad_fn requires_grad backward`)

// TensorMethods are methods that tell tensors from other objects.
var TensorMethods = set(`view unsqueeze squeeze permute softmax log_softmax argmax clone contiguous cuda cpu float long half detach_ unbind
	new_zeros new_ones numel matmul bmm expand_as masked_fill`)

// TensorClass reports whether a dotted name is that of the class of tensors.
func TensorClass(dotted string) bool {
	return dotted == "torch.Tensor" || dotted == "torch.FloatTensor"
}

// Function is the contract of a library function by its dotted name.
func Function(dotted string) (Contract, bool) {
	if c, ok := functions[dotted]; ok {
		return c, true
	}
	prefix, name := cutLast(dotted)
	switch prefix {
	case "torch", "torch.nn.functional", "torch.Tensor", "torch.linalg", "torch.fft", "torch.special", "torch.sparse":
		c, ok := operations[name]
		return c, ok
	}
	return Contract{}, false
}

func cutLast(dotted string) (prefix, name string) {
	i := strings.LastIndexByte(dotted, '.')
	if i < 0 {
		return "", dotted
	}
	return dotted[:i], dotted[i+1:]
}

var functions = func() map[string]Contract {
	m := map[string]Contract{}
	words(m, Contract{Effect: Leaves}, `
		torch.manual_seed torch.save torch.device torch.get_rng_state torch.set_rng_state torch.is_grad_enabled torch.numel
		torch.cuda.empty_cache torch.cuda.synchronize torch.cuda.memory_allocated torch.cuda.max_memory_allocated
		torch.cuda.memory_reserved torch.cuda.is_available torch.cuda.device_count torch.cuda.set_device
		torch.distributed.get_rank torch.distributed.get_world_size torch.distributed.barrier
		torch.nn.utils.clip_grad_norm_ torch.nn.utils.clip_grad_value_`)
	words(m, Contract{Effect: NoGraph}, `torch.Tensor torch.FloatTensor torch.LongTensor torch.cuda.FloatTensor torch.cuda.LongTensor`)
	words(m, Contract{Effect: Keeps, Saves: true}, `torch.utils.checkpoint.checkpoint torch.utils.checkpoint.checkpoint_sequential`)
	words(m, Contract{Effect: Keeps}, `torch.nn.utils.rnn.pad_sequence torch.nn.utils.rnn.pack_padded_sequence torch.nn.utils.rnn.pack_sequence`)
	words(m, Contract{Effect: Leaves}, `
		float int bool str repr len hash id format isinstance issubclass hasattr type callable ord chr bin hex print input
		bytes bytearray open vars dir`)
	words(m, Contract{Effect: Keeps, Saves: true}, `abs round pow divmod operator.mul operator.truediv`)
	words(m, Contract{Effect: Keeps}, `operator.add operator.sub operator.iadd`)
	return m
}()

// OutsideGraph reports whether a library works on values that have no PyTorch
// graph: what comes out of it keeps none.
func OutsideGraph(dotted string) bool {
	if anyFactory[dotted] {
		return false
	}
	first, _, _ := strings.Cut(dotted, ".")
	return foreign[first]
}

// anyFactory are functions of such libraries that make whatever a
// configuration names: a model as well.
var anyFactory = set(`hydra.utils.instantiate hydra.utils.call`)

var foreign = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range strings.Fields(`numpy scipy sklearn pandas tensorflow keras jax jaxlib flax optax haiku cupy mxnet paddle math
		statistics random time datetime os sys re json pickle csv yaml logging argparse pathlib shutil glob string struct
		matplotlib seaborn plotly PIL cv2 skimage imageio wandb tensorboard tensorboardX mlflow comet_ml neptune hydra omegaconf
		subprocess platform socket uuid tempfile io gzip zipfile h5py lmdb psutil gc warnings nltk spacy`) {
		m[name] = true
	}
	return m
}()
