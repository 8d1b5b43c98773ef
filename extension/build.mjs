// Bundles the extension into dist/extension.js.

import { stat } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const outfile = 'dist/extension.js';
const sizeLimit = 500_000; // bytes; the editor reads the bundle each time it starts

/** Bundles the extension and returns the size of the bundle in bytes. */
export async function build() {
  await esbuild.build({
    entryPoints: ['extension/src/extension.ts'],
    outfile,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    external: ['vscode'],
    logLevel: 'warning',
  });
  const { size } = await stat(outfile);
  if (size > sizeLimit) {
    throw new Error(`${outfile} has ${size} bytes; the limit is ${sizeLimit}`);
  }
  return size;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(`${outfile}: ${Math.round((await build()) / 1000)} kB`);
}
