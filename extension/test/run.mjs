// Runs the tests of the extension:
//
//   node extension/test/run.mjs unit [--only PATTERN]
//   node extension/test/run.mjs e2e [--only PATTERN] [--update-screenshots]
//
// Without a pattern all tests run. With --update-screenshots the pictures of the
// documentation, in docs/images, are taken anew.
// The last line printed is "N passed, N failed".

import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import process from 'node:process';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { parseArgs } from 'node:util';
import esbuild from 'esbuild';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, 'update-screenshots': { type: 'boolean', default: false } },
});
const [suite] = positionals;
if (positionals.length !== 1 || (suite !== 'unit' && suite !== 'e2e')) {
  console.error('usage: run.mjs unit|e2e [--only PATTERN] [--update-screenshots]');
  process.exit(2);
}

const files = await bundle(`extension/test/${suite}`, `dist/test/${suite}`);
process.env.NODE_OPTIONS = '--enable-source-maps';
if (values['update-screenshots']) {
  process.env.UPDATE_SCREENSHOTS = '1';
}

let passed = 0;
let failed = 0;
const tests = run({ files, concurrency: suite === 'unit', testNamePatterns: values.only })
  .on('test:pass', ({ details, skip }) => {
    if (details.type !== 'suite' && skip === undefined) {
      passed++;
    }
  })
  .on('test:fail', ({ details }) => {
    if (details.type !== 'suite') {
      failed++;
    }
  });
for await (const text of tests.compose(spec())) {
  process.stdout.write(text);
}
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** Compiles the tests of a folder, each with what it imports, and returns the files to run. */
async function bundle(folder, outdir) {
  const tests = (await readdir(folder)).filter((name) => name.endsWith('.test.ts'));
  await rm(outdir, { recursive: true, force: true });
  await esbuild.build({
    entryPoints: tests.map((name) => path.join(folder, name)),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return tests.map((name) => path.resolve(outdir, name.replace(/\.ts$/, '.mjs')));
}
