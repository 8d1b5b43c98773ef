package torch

import "strings"

// A worker of a DataLoader is a process that shares the memory of its parent until
// it writes to it. To read a Python object writes its count of references: the
// memory of lists and dicts is copied in each worker, bit by bit; that of arrays,
// tensors and long texts is not. This file says what gives many small objects.

// DatasetClass reports whether a dotted name is that of a base of data sets.
func DatasetClass(dotted string) bool {
	_, class := cutLast(dotted)
	return strings.HasPrefix(dotted, "torch.utils.data.") && (class == "Dataset" || class == "IterableDataset") ||
		dotted == "torchvision.datasets.VisionDataset"
}

// RecordReaders are functions that read records from text.
var RecordReaders = set(`json.load json.loads ujson.load ujson.loads orjson.loads yaml.safe_load csv.reader csv.DictReader`)

// RecordMethods are methods that give a list with an object for each line or row.
var RecordMethods = set(`readlines splitlines to_dict iterrows itertuples`)

// GivesText are functions and methods that give numbers, texts, or parts of a
// record.
var GivesText = set(`int float str len strip lstrip rstrip split lower upper replace format join get
	basename dirname splitext normpath abspath loads Path with_suffix as_posix index find`)

// TextSources are functions and methods that give lines, names of files, rows or
// entries of a mapping.
var TextSources = set(`open os.listdir os.walk os.scandir listdir scandir walk glob rglob iglob iterdir readlines splitlines
	split items itertuples iterrows to_dict`)
