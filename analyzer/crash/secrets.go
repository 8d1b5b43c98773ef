package crash

import "regexp"

// secretPattern is one shape of what must not be shown: the group that holds it
// (0: all that matches), and what its mask is called.
type secretPattern struct {
	kind    string
	group   int
	pattern *regexp.Regexp
}

// secretPatterns come in order: what is masked once is not looked at again.
var secretPatterns = []secretPattern{
	{"key", 0, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?:.*?-----END [A-Z ]*PRIVATE KEY-----|.*)`)},
	{"key", 1, regexp.MustCompile(`\bssh-(?:rsa|ed25519|dss) ([A-Za-z0-9+/=]{20,})`)},
	{"login", 2, regexp.MustCompile(`(://)([^/\s:@]+:[^/\s@]+)@`)},
	{"webhook", 1, regexp.MustCompile(`hooks\.slack\.com/services/([A-Za-z0-9/]+)`)},
	{"webhook", 1, regexp.MustCompile(`discord(?:app)?\.com/api/webhooks/([\w/-]+)`)},
	// Keys of services, which tell themselves by how they begin.
	{"token", 0, regexp.MustCompile(`\b(?:hf_[A-Za-z0-9]{16,}|api_org_[A-Za-z0-9]{16,}|sk-[A-Za-z0-9_-]{16,}|gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}` +
		`|(?:AKIA|ASIA)[A-Z0-9]{16}|xox[abeprs]-[\w-]{10,}|AIza[\w-]{30,}|ya29\.[\w-]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|dckr_pat_[\w-]{20,}|dapi[0-9a-f]{32}` +
		`|r8_[A-Za-z0-9]{30,}|nvapi-[\w-]{30,}|wandb_v\d_\w{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|\d{8,10}:AA[\w-]{30,}|eyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*)`)},
	{"token", 1, regexp.MustCompile(`(?i)\b(?:bearer|basic)\s+([A-Za-z0-9+/_.=-]{8,})`)},
	// What a name says is secret: in the environment, in options, in JSON.
	{"secret", 1, regexp.MustCompile(`(?i)(?:\b|_)(?:api[_-]?keys?|access[_-]?keys?|[a-z_]*secret[a-z_]*|[a-z_]*token|auth|passwords?|passwd|pwd|credentials?|private[_-]?key|wandb_api_key)["']?\s*(?:[:=]|\s=>)\s*["']?([^\s"',;&<>(){}\[\]]{6,})`)},
	{"secret", 1, regexp.MustCompile(`(?i)--(?:[a-z-]*token|api-key|password|secret)[ =]+["']?([^\s"',;]{6,})`)},
	{"secret", 1, regexp.MustCompile(`(?i)[?&](?:sig|signature|x-amz-signature|x-amz-credential|token|key|api_key)=([^\s"'&]+)`)},
	{"secret", 1, regexp.MustCompile(`(?i)\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig)=([A-Za-z0-9+/%=_-]{6,})`)},
	{"secret", 1, regexp.MustCompile(`"key"\s*:\s*"([A-Za-z0-9+/_=-]{20,})"`)}, // Kaggle's
	// W&B's keys look like a commit.
	{"token", 0, regexp.MustCompile(`\b[0-9a-f]{40}\b`)},
	{"email", 0, regexp.MustCompile(`\b[\w.+-]+@[\w-]+(?:\.[\w-]+)*\.[A-Za-z]{2,}\b`)},
	{"ip", 0, regexp.MustCompile(`(?i)\b(?:[0-9a-f]{2}[:-]){5}[0-9a-f]{2}\b`)}, // of a network card
	{"ip", 0, regexp.MustCompile(`\b(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)\b`)},
	{"ip", 0, regexp.MustCompile(`(?i)\bfe80::[0-9a-f:]+\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){7}\b|\b[0-9a-f]{1,4}(?::[0-9a-f]{1,4}){1,6}::(?:[0-9a-f]{1,4})?\b|\b(?:[0-9a-f]{1,4}:){1,6}:[0-9a-f]{1,4}\b`)},
	{"run", 1, regexp.MustCompile(`\brun-\d{8}_\d{6}-([a-z0-9]{8})\b`)},
	{"run", 1, regexp.MustCompile(`(?i)/runs/([A-Za-z0-9-]+)`)},
	{"run", 1, regexp.MustCompile(`(?i)\b(?:syncing|resuming) run ([\w-]+)`)},
	{"job", 1, regexp.MustCompile(`(?i)\b(?:StepId|JobId|SLURM_JOB_ID)=(\d+)`)},
}

// namePattern finds the name of a person, a machine or an account; it is masked
// wherever it stands.
type namePattern struct {
	kind    string
	pattern *regexp.Regexp // groups are names, empty ones are none
}

var namePatterns = []namePattern{
	{"user", regexp.MustCompile(`(?:/home|/homes|/Users|/users|/user|/mnt/home|/root/home|/scratch|/people)[\\/]+([^\\/\s"':,;<>()]+)`)},
	{"user", regexp.MustCompile(`[A-Za-z]:[\\/]+Users[\\/]+([^\\/"':,;<>()|?*]{1,40}?)(?:[\\/"']|$)`)}, // names have spaces there
	{"user", regexp.MustCompile(`~([a-z][\w.-]+)/`)},
	{"user", regexp.MustCompile(`(?i)\b(?:user|username|user_name|logname|login|owner)["']?\s*[=:]\s*["']?([A-Za-z][\w.-]+)`)},
	{"user", regexp.MustCompile(`\bsudo -u ([a-z][\w.-]+)|\buid=\d+\(([\w.-]+)\)|\b[Ll]ogged in as:? ([\w.-]+)`)},
	{"account", regexp.MustCompile(`wandb\.ai/([\w.-]+)(?:/([\w.-]+))?|logged in as:? [\w.-]+ \(([\w.-]+)\)`)},
	{"account", regexp.MustCompile(`(?:\bgit@[\w.-]+|<email-\d+>):([\w.-]+)/([\w.-]+?)(?:\.git)?(?:[\s"',;)]|$)`)},
	{"account", regexp.MustCompile(`\bAccountName=([\w-]+)`)},
	{"account", regexp.MustCompile(`(?:huggingface\.co|hf\.co)/(?:api/)?(?:models/|datasets/|spaces/)?([\w.-]+)(?:/([\w.-]+))?`)},
	{"host", regexp.MustCompile(`(?i)\b(?:host(?:name)?|node(?:name)?|server|master_addr|rdzv[_-]endpoint|node_ip_address)["']?\s*[:=]+\s*["']?([A-Za-z][\w.-]*\w)`)},
	{"host", regexp.MustCompile(`(?i)(?:tcp|env|http|https|s3|ssh|nfs|grpc)://(?:[^/\s@]+@)?([A-Za-z][\w.-]*\w)(?::\d+)?(?:[/\s"'?,;)]|$)`)},
	{"host", regexp.MustCompile(`\b([A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:local|internal|lan|corp|intra|cluster|svc|hpc)(?:\.[A-Za-z][\w-]*)*)\b`)},
	{"host", regexp.MustCompile(`\b([A-Za-z][\w.-]*):\d+:\d+ \[\d+\] NCCL\b`)},
	{"host", regexp.MustCompile(`\[([A-Za-z][\w.-]*\d[\w.-]*):\d+\]`)},
	{"host", regexp.MustCompile(`\b(?:srun|slurmstepd): error: ([A-Za-z][\w.-]*\d[\w.-]*): |\bON ([A-Za-z][\w.-]*\d[\w.-]*) CANCELLED`)},
	{"host", regexp.MustCompile(`\bconnect to (?:host )?([A-Za-z][\w-]*[\w.-]*)(?::\d+| port)`)},
}

// userHost is a shell's prompt or an address for ssh.
var userHost = regexp.MustCompile(`\b([a-z_][\w-]*)@([A-Za-z][\w.-]*\w)\b`)

// telling is what stays: names that everybody has, of sites that everybody
// uses, and addresses of the machine itself.
var telling = map[string]bool{
	"localhost": true, "root": true, "user": true, "users": true, "ubuntu": true, "runner": true, "jovyan": true, "shared": true, "public": true,
	"home": true, "app": true, "data": true, "work": true, "workspace": true, "none": true, "null": true, "true": true, "false": true, "unknown": true,
	"127.0.0.1": true, "0.0.0.0": true, "255.255.255.0": true,
	"github.com": true, "huggingface.co": true, "hf.co": true, "pytorch.org": true, "docs.pytorch.org": true, "download.pytorch.org": true, "wandb.ai": true,
	"api.wandb.ai": true, "pypi.org": true, "files.pythonhosted.org": true, "docs.nvidia.com": true, "docs.ray.io": true, "pytorch.s3.amazonaws.com": true,
	"stackoverflow.com": true, "docs.python.org": true, "hooks.slack.com": true, "discord.com": true, "api": true, "models": true, "datasets": true, "spaces": true, "docs": true, "train": true, "test": true, "model": true, "torch": true,
	"python": true, "node": true, "admin": true, "project": true, "projects": true,
}
