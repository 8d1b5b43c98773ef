package crash

import "fmt"

// refiner tells apart the failures that share their signatures.
type refiner func(c *inquiry) verdict

// refiners are those of the pages that others refine.
var refiners = map[string]refiner{
	cudaOOM + "undetermined": refineCUDAOOM,
	mpsOOM:                   refineOtherOOM,
	"memory.xpu-oom":         refineOtherOOM,
	"memory.npu-oom":         refineOtherOOM,
	timeoutID:                refineTimeout,
	peerLostID:               refineLoss,
}

const mpsOOM = "memory.mps-oom"

// refinedIDs are the pages that the refiners may answer with.
func refinedIDs() []string {
	return []string{
		cudaOOM + "graph-retained", cudaOOM + "fragmentation", cudaOOM + "too-large", cudaOOM + "other-process", cudaOOM + "limit",
		cudaOOM + "impossible-request", cudaOOM + "not-capacity", cudaOOM + "eval-accumulation", cudaOOM + "undetermined",
		desyncID, growthID, createGraphID, childFailedID,
	}
}

// verdict is the answer about one event.
type verdict struct {
	failure      string
	confidence   Confidence
	cause        string
	arithmetic   []string
	memory       *Memory
	fields       map[string]string // for the texts of the page
	missing      []string
	alternatives []Alternative
	absent       *absent // the process that started it, where the event is another's
}

const (
	cudaOOM       = "memory.cuda-oom."
	createGraphID = "memory.create-graph-cycle"
)

// inquiry is what a refiner knows about an event.
type inquiry struct {
	event      *Event
	suspects   []Suspect
	course     *course // of the memory that the log prints; nil if it does not
	expandable bool    // the log shows that expandable segments are on
	cudaBroken bool    // a CUDA or NCCL failure came before
	cycle      bool    // the log warns of a cycle between parameters and gradients
	ended      []*Event
	absent     *absent
}

// first and late are the steps up to which memory is still being set up, and
// from which a leak had time to grow. Between them the number tells nothing.
const (
	firstSteps = 2
	lateSteps  = 10
)

func (c *inquiry) early() bool {
	s := c.event.Step
	return s.Number >= 0 && s.Number <= firstSteps && s.Epoch <= 1
}

func (c *inquiry) late() bool {
	s := c.event.Step
	return s.Number >= lateSteps || s.Epoch > 1
}

// explains is the suspect whose growth explains that the device is full.
func (c *inquiry) explains() *Suspect {
	for i := range c.suspects {
		s := &c.suspects[i]
		if (s.Grows == DeviceGraph || s.Grows == DeviceValues) && !s.contradicted {
			return s
		}
	}
	return nil
}

// evaluates is the suspect that evaluates with a graph.
func (c *inquiry) evaluates() *Suspect {
	for i := range c.suspects {
		if c.suspects[i].Evaluation {
			return &c.suspects[i]
		}
	}
	return nil
}

// refineOtherOOM reads the message of an accelerator that is not CUDA's. Its
// numbers are shown; the causes are not told apart.
func refineOtherOOM(c *inquiry) verdict {
	m := readOOM(c.event.Fields)
	v := verdict{failure: c.event.Page.ID, confidence: Medium, arithmetic: m.arithmetic(), memory: m.parts(), fields: c.event.Fields}
	other, hasOther := parseSize(c.event.Fields["other"])
	switch {
	case c.event.Page.ID == mpsOOM && hasOther && m.allocated.said():
		v.arithmetic = append(v.arithmetic, fmt.Sprintf("other allocations: %v against %v in tensors", other, m.allocated))
		v.cause = fmt.Sprintf("The Metal back end reached its limit: %v in tensors and %v in other allocations.", m.allocated, other)
		if other > 2*m.allocated {
			v.cause += " Most of it is not tensors: compiled graphs, of which each new input shape adds one, or other programs."
		} else {
			v.cause += " Most of it is tensors: a batch that is too large, or something kept from step to step."
		}
	case m.allocated.said() && m.total.said():
		v.cause = fmt.Sprintf("%s: live tensors hold %v of %v. Whether something is kept from step to step or the batch is too large, the text does not tell.", m.lastStraw(), m.allocated, m.total)
	case m.request.said():
		v.cause = fmt.Sprintf("The device's memory ran out on a request for %v.", m.request)
	default:
		v.cause = "The device's memory ran out."
	}
	if s := c.explains(); s != nil && !c.early() {
		v.cause += fmt.Sprintf(" %s keeps device memory of every step (%s).", s.place(), s.Code)
	}
	return v
}
