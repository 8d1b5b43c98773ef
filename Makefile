# make run    see it work on the example project
# make test   all tests, with the editor tests in a real VS Code
# make lint   formatting, vet, staticcheck, eslint, types
# make oracle what rules claim, held against PyTorch itself
# make vsix   the VS Code extension for this platform, in dist/

SHELL       := bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS   += --no-builtin-rules
.DELETE_ON_ERROR:

VERSION     := $(shell sed -n 's/^  "version": "\(.*\)",$$/\1/p' package.json)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
EXAMPLE     := testdata/example
BINARY      := bin/graphleak$(shell go env GOEXE 2>/dev/null)

.PHONY: build run test test-go test-editors test-extension e2e lint fmt vsix eval oracle torch clean requirements

build: $(BINARY) dist/extension.js

# The Go tool knows best what changed, so it always looks.
.PHONY: $(BINARY)
$(BINARY): requirements
	go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $@ .

dist/extension.js: node_modules/.package-lock.json $(shell find extension/src -type f 2>/dev/null) extension/build.mjs
	@npm run --silent build

# npm writes this file last, so it is as new as the installed packages.
node_modules/.package-lock.json: package.json package-lock.json | requirements
	npm ci --no-audit --no-fund --loglevel=error
	@touch $@

# Findings are what the example is there for: exit code 1 is success here.
run: build
	@echo
	@echo '$$ graphleak check $(EXAMPLE)'
	@$(BINARY) check $(EXAMPLE) || [ $$? -eq 1 ]
	@echo
	@echo '$$ graphleak diagnose --workspace $(EXAMPLE) $(EXAMPLE)/crash.log'
	@$(BINARY) diagnose --workspace $(EXAMPLE) $(EXAMPLE)/crash.log

test: test-go test-editors test-extension e2e

# jsonrpc2poison makes the protocol library fail loudly where a handler keeps
# something that belongs to a finished request.
test-go: requirements
	go vet ./...
	go test -race -tags jsonrpc2poison ./...

# Neovim and Emacs with eglot drive the server as it is installed. On Debian, as
# root, they are installed if the packages can be had; without them this says so.
test-editors: requirements
	@there() { command -v nvim >/dev/null && emacs -q --batch --eval "(progn (package-initialize) (require 'eglot))" >/dev/null 2>&1; }; \
	if ! there && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing neovim emacs-nox elpa-eglot"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends neovim emacs-nox elpa-eglot; } || true; \
	fi; \
	if there; then go test -tags editors -run TestEditors ./server; \
	else echo "Not run: the tests in Neovim and Emacs need both, with eglot"; fi

test-extension: node_modules/.package-lock.json $(BINARY)
	npm test

e2e: node_modules/.package-lock.json $(BINARY)
	npm run e2e

lint: node_modules/.package-lock.json
	@unformatted=$$(gofmt -l $$(git ls-files --cached --others --exclude-standard '*.go')); \
	if [ -n "$$unformatted" ]; then echo "not formatted (make fmt):"; echo "$$unformatted"; exit 1; fi
	go vet ./...
	go run $(STATICCHECK) ./...
	npm run lint

fmt: node_modules/.package-lock.json
	gofmt -w $$(git ls-files --cached --others --exclude-standard '*.go')
	npm run format

vsix: node_modules/.package-lock.json $(BINARY)
	npm run vsix

eval: requirements
	go run ./rules/eval

oracle: requirements torch
	go run ./rules/oracle

# PyTorch is needed by oracle only, which says so where it is not there. On Debian,
# as root, it is installed if the package can be had, with a faster library for the
# arithmetic than the one that it comes with.
torch:
	@for python in "$${PYTHON:-}" python3 /usr/bin/python3; do \
	  if [ -n "$$python" ] && "$$python" -c 'import torch' 2>/dev/null; then exit 0; fi; \
	done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  echo "Installing python3-torch libopenblas0-serial"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  { apt-get update -qq && apt-get install -y -qq --no-install-recommends python3-torch libopenblas0-serial; } || echo "python3-torch cannot be installed here"; \
	fi

clean:
	rm -rf bin dist node_modules .cache

# Go, a C compiler and Node come from the system. On Debian, as root, what is
# missing is installed; elsewhere the message says what to install.
requirements:
	@missing=; \
	for pair in gcc:gcc node:nodejs npm:npm git:git; do \
	  command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair##*:}"; \
	done; \
	if [ -n "$$missing" ]; then \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    echo "Installing$$missing"; \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends $$missing libc6-dev; \
	  else \
	    echo "Missing:$$missing. Install them with your system's package manager." >&2; exit 1; \
	  fi; \
	fi; \
	command -v go >/dev/null || { echo "Missing: Go 1.26 or newer, https://go.dev/dl/" >&2; exit 1; }
