package torch

// Discrete are the operations that give integers or truth values.
var Discrete = set(`argmax argmin argsort nonzero argwhere count_nonzero searchsorted bucketize bincount multinomial randperm
	randint one_hot eq ne lt le gt ge not_equal greater greater_equal less less_equal isnan isinf isfinite isclose isin
	logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not all any long int short byte char bool
	is_nonzero tril_indices triu_indices`)
