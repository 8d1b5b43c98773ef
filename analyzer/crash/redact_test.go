package crash

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRedactionMasksTheSameThingTheSameWay(t *testing.T) {
	d := &Diagnosis{
		Cause:      "mira@node-a and bert@example.org and 10.1.2.3, not 127.0.0.1; mirabelle stays, root@localhost too",
		Initiating: &Initiating{Host: "node-a"},
		Collateral: []Collateral{{Host: "gpu-7.cluster", Event: "connect to 10.1.2.3 and 10.9.9.9 from gpu-7.cluster"}},
		Evidence: []Evidence{
			{Text: `File "/home/mira/proj/train.py" by mira`},
			{Text: `C:\Users\kim\proj and kim`},
			{Text: "HF_TOKEN=hf_abcdefghijklmnopqrstuv api_key: 'sk-abcdefghijklmnopqrstuvwx' password=hunter22"},
			{Text: "Authorization: Bearer abc.def-ghi and https://mira:pw12345@git.example.org/x"},
			{Text: "wandb 0123456789abcdef0123456789abcdef01234567 and fe80::1:2 and AKIAABCDEFGHIJKLMNOP"},
		},
		Fix:     []Fix{{"End process on node-a", "/home/mira"}},
		Missing: []string{"the log of node-a"},
	}
	r := d.Redacted()
	raw, err := json.Marshal(r)
	require.NoError(t, err)
	for _, secret := range []string{
		"mira@", "/mira", "kim", "node-a", "gpu-7", "10.1.2.3", "10.9.9.9", "bert", "hf_abc", "sk-abc", "hunter22", "abc.def", "pw12345",
		"0123456789abcdef", "fe80::1:2", "AKIA",
	} {
		assert.NotContains(t, string(raw), secret)
	}
	assert.Contains(t, r.Cause, "127.0.0.1")
	assert.Contains(t, r.Cause, "mirabelle")
	assert.Contains(t, r.Cause, "root@localhost")
	assert.Equal(t, r.Initiating.Host, strings.TrimPrefix(r.Missing[0], "the log of "))
	assert.Contains(t, r.Fix[0].Title, r.Initiating.Host)
	assert.Equal(t, r.Fix[0].Detail, "/home/"+strings.TrimPrefix(r.Evidence[0].Text[strings.LastIndex(r.Evidence[0].Text, " "):], " "))
	assert.Contains(t, r.Evidence[0].Text, "proj/train.py", "what does not identify stays")
	assert.Equal(t, "node-a", d.Initiating.Host, "the original is as it was")
}

// redactedText is what is left of one line of evidence.
func redactedText(text string) string {
	return (&Diagnosis{Evidence: []Evidence{{Text: text}}}).Redacted().Evidence[0].Text
}

// The secrets are put together here so that nobody takes them for real ones.
func TestSecretsAreMasked(t *testing.T) {
	chars := func(n int) string { return strings.Repeat("aB3dE6gH9j", 1+n/10)[:n] }
	hex := func(n int) string { return strings.Repeat("0a1b2c3d4e5f6789", 1+n/16)[:n] }
	for text, want := range map[string]string{
		// keys of services
		"HF_TOKEN=hf_" + chars(34):                                    "HF_TOKEN=<token-1>",
		"login(token='hf_" + chars(34) + "')":                         "login(token='<token-1>')",
		"OPENAI_API_KEY: sk-proj-" + chars(40):                        "OPENAI_API_KEY: <token-1>",
		"using sk-ant-api03-" + chars(40):                             "using <token-1>",
		"git clone https://ghp_" + chars(36) + "@github.com/org/repo": "git clone https://<token-1>@github.com/org/repo",
		"AWS_ACCESS_KEY_ID=AKIA" + strings.ToUpper(hex(16)):           "AWS_ACCESS_KEY_ID=<token-1>",
		"aws_secret_access_key = " + chars(40):                        "aws_secret_access_key = <secret-1>",
		"wandb: Appending key for api.wandb.ai: " + hex(40):           "wandb: Appending key for api.wandb.ai: <token-1>",
		`{"api_key": "` + hex(40) + `"}`:                              `{"api_key": "<secret-1>"}`,
		"COMET_API_KEY=" + chars(25):                                  "COMET_API_KEY=<secret-1>",
		"NEPTUNE_API_TOKEN=eyJ" + chars(20) + "." + chars(30) + ".x":  "NEPTUNE_API_TOKEN=<token-1>",
		"Authorization: Bearer " + chars(30):                          "Authorization: Bearer <token-1>",
		"Authorization: Basic bWlyYTpwYXNzd29yZA==":                   "Authorization: Basic <token-1>",
		"password=hunter2000; retry":                                  "password=<secret-1>; retry",
		"--hf-token " + chars(20) + " --lr 1e-4":                      "--hf-token <secret-1> --lr 1e-4",
		"postgres://mira:s3cretpw@db.internal:5432/runs":              "postgres://<login-1>@<host-1>:5432/runs",
		"https://hooks.slack.com/services/T0/B0/" + chars(24):         "https://hooks.slack.com/services/<webhook-1>",
		"https://acct.blob.core.windows.net/c?sv=1&sig=" + chars(30):  "https://<host-1>/c?sv=1&sig=<secret-1>",
		"ssh-ed25519 " + chars(60) + " mira@laptop":                   "ssh-ed25519 <key-1> <user-1>@<host-1>",
		"-----BEGIN PRIVATE KEY-----" + chars(40):                     "<key-1>",
		"AccountName=birdml;AccountKey=" + chars(40) + "==;Suffix=x":  "AccountName=<account-1>;AccountKey=<secret-1>;Suffix=x",
		"env AZURE sig=abc%2Fdef%3D end":                              "env AZURE sig=<secret-1> end",
		`{"username":"mira","key":"` + hex(32) + `"}`:                 `{"username":"<user-1>","key":"<secret-1>"}`,
		`{"key":"train/loss","value":0.5}`:                            `{"key":"train/loss","value":0.5}`,
		// people
		`File "/home/mira/proj/train.py", line 3, in mira`:           `File "/home/<user-1>/proj/train.py", line 3, in <user-1>`,
		`C:\\Users\\Kim Lee\\proj`:                                   `C:\\Users\\<user-1>\\proj`,
		"/Users/kim/proj and /scratch/kim/data":                      "/Users/<user-1>/proj and /scratch/<user-1>/data",
		"wandb: Currently logged in as: mira (birdlab). Use `wandb`": "wandb: Currently logged in as: <user-1> (<account-1>). Use `wandb`",
		"contact mira.k+logs@uni-example.ac.uk":                      "contact <email-1>",
		"mira@gpu07:~/proj$ python train.py":                         "<user-1>@<host-1>:~/proj$ python train.py",
		"uid=1000(mira) gid=1000":                                    "uid=1000(<user-1>) gid=1000",
		// accounts and runs
		"View run at https://wandb.ai/birdlab/birds/runs/3kx9q2ab":           "View run at https://wandb.ai/<account-1>/<account-2>/runs/<run-1>",
		"wandb: Run data is saved in wandb/run-20260112_161300-3kx9q2ab":     "wandb: Run data is saved in wandb/run-20260112_161300-<run-1>",
		"wandb: Syncing run brisk-fog-12":                                    "wandb: Syncing run <run-1>",
		"404 for url: https://huggingface.co/api/models/birdlab/secret-bird": "404 for url: https://huggingface.co/api/models/<account-1>/<account-2>",
		// machines
		"gpu07:4101:4188 [0] NCCL INFO Bootstrap : Using eth0:10.1.2.3<0>": "<host-1>:4101:4188 [0] NCCL INFO Bootstrap : Using eth0:<ip-1><0>",
		"MASTER_ADDR=gpu07.hpc.example.org port 29500":                     "MASTER_ADDR=<host-1> port 29500",
		"postgresql://svc:pa55w0rd!@db01.corp.example.com:5432/x":          "postgresql://<login-1>@<host-1>:5432/x",
		"host gpu07.hpc.example.org is down, so is gpu07":                  "host <host-1> is down, so is <host-1>",
		"fatal: git@git.example.org:birdlab/secret-bird.git":               "fatal: <email-1>:<account-1>/<account-2>.git",
		"tcp://gpu07:29500 and gpu07 again":                                "tcp://<host-1>:29500 and <host-1> again",
		"srun: error: gpu07: task 3: Out Of Memory":                        "srun: error: <host-1>: task 3: Out Of Memory",
		"*** JOB 8812 ON gpu07 CANCELLED AT 2026-01-12T16:13:00":           "*** JOB 8812 ON <host-1> CANCELLED AT 2026-01-12T16:13:00",
		"[gpu07:4101] *** Process received signal ***":                     "[<host-1>:4101] *** Process received signal ***",
		"connect to fe80::1ff:fe23:4567:890a and 2001:db8:0:0:0:0:0:1":     "connect to <ip-1> and <ip-2>",
		"HWaddr 0a:1b:2c:3d:4e:5f":                                         "HWaddr <ip-1>",
		// what tells nothing about anyone stays
		"torch 2.4.1+cu121, NCCL version 2.21.5, driver 535.104.05":             "torch 2.4.1+cu121, NCCL version 2.21.5, driver 535.104.05",
		"NVRM: Xid (PCI:0000:06:00): 79":                                        "NVRM: Xid (PCI:0000:06:00): 79",
		"at 16:13:00.100 on 127.0.0.1:29500, localhost":                         "at 16:13:00.100 on 127.0.0.1:29500, localhost",
		"terminate called after throwing an instance of 'c10::Error'":           "terminate called after throwing an instance of 'c10::Error'",
		"https://pytorch.org/docs/stable/notes/cuda.html#environment-variables": "https://pytorch.org/docs/stable/notes/cuda.html#environment-variables",
		"AssertionError: token indices are longer than 512":                     "AssertionError: token indices are longer than 512",
		"tokens=4096 max_new_tokens: 128 tokenizer=bert":                        "tokens=4096 max_new_tokens: 128 tokenizer=bert",
		"RuntimeError: shape '[3, 4]' is invalid for input of size 10":          "RuntimeError: shape '[3, 4]' is invalid for input of size 10",
		"Signature: forward(self, input_ids)":                                   "Signature: forward(self, input_ids)",
	} {
		t.Run(text, func(t *testing.T) { assert.Equal(t, want, redactedText(text)) })
	}
}

// Every text of a diagnosis is looked at, of fields that come later too.
func TestNothingOfADiagnosisIsLeftOut(t *testing.T) {
	const secret = "/home/mira/x on gpu07.cluster"
	raw, err := json.Marshal(example())
	require.NoError(t, err)
	var d Diagnosis
	require.NoError(t, json.Unmarshal(raw, &d))
	d.Cause, d.Initiating.Host, d.Initiating.When, d.Initiating.Input = secret, "gpu07.cluster", secret, secret
	d.Collateral[0] = Collateral{Event: secret, Input: secret}
	d.Evidence[0] = Evidence{Text: secret, Why: secret, Input: secret}
	d.Arithmetic[0], d.Missing[0], d.Growth.Meaning = secret, secret, secret
	d.Fix[0] = Fix{secret, secret}
	d.Verify = Verify{Command: secret, Expect: secret}
	d.Suspects[0].Path, d.Suspects[0].Message = secret, secret
	d.Alternatives[0].Why = secret
	r := d.Redacted()
	for _, out := range []string{r.Text(100, false), r.Markdown(), fmt.Sprintf("%+v", *r.Initiating)} {
		assert.NotContains(t, out, "mira")
		assert.NotContains(t, out, "gpu07")
	}
	assert.Equal(t, d.Failure, r.Failure)
	assert.Equal(t, "/home/mira/x on gpu07.cluster", d.Evidence[0].Text, "the original is as it was")
}
