// Packages the extension with the server of this platform into
// dist/graphleak-<target>.vsix.

import { access, constants } from 'node:fs/promises';
import process from 'node:process';
import { createVSIX } from '@vscode/vsce';
import { build } from './build.mjs';

const target = `${process.platform}-${process.arch}`;
const binary = process.platform === 'win32' ? 'bin/graphleak.exe' : 'bin/graphleak';
const packagePath = `dist/graphleak-${target}.vsix`;

try {
  await access(binary, constants.X_OK);
} catch {
  console.error(`${binary} is missing or not executable: build it with "go build -o ${binary} ."`);
  process.exit(1);
}
await build();
await createVSIX({ packagePath, target, dependencies: false });
