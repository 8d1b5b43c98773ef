// Bundles the extension into dist: what runs when it is activated, the language
// client, which is read once the server has been started, the page of its views
// with their styles, and what runs in a browser, where there is no server.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import esbuild from 'esbuild';

const sizeLimit = 500_000; // bytes of all bundles; the editor reads them each time it starts

// What the language client brings along for features that the server does not
// have. Commands are among them because the extension registers its own.
const unusedFeatures = new Set([
  'callHierarchy',
  'codeLens',
  'colorProvider',
  'completion',
  'declaration',
  'definition',
  'documentHighlight',
  'documentSymbol',
  'executeCommand',
  'foldingRange',
  'formatting',
  'implementation',
  'inlayHint',
  'inlineCompletion',
  'inlineValue',
  'linkedEditingRange',
  'reference',
  'rename',
  'selectionRange',
  'semanticTokens',
  'signatureHelp',
  'textDocumentContent',
  'typeDefinition',
  'typeHierarchy',
  'workspaceSymbol',
]);

/** Puts features that do nothing in the place of those that are not used. */
const withoutUnusedFeatures = {
  name: 'without-unused-features',
  setup(build) {
    build.onLoad({ filter: /vscode-languageclient[\\/]lib[\\/]common[\\/]\w+\.js$/ }, async ({ path: file }) => {
      if (!unusedFeatures.has(path.basename(file, '.js'))) {
        return undefined;
      }
      const source = await readFile(file, 'utf8');
      const names = [...source.matchAll(/^exports\.(\w+Feature) = /gm)].map(([, name]) => name);
      if (names.length === 0) {
        throw new Error(`${file} has no feature`);
      }
      return {
        contents: `
          class Unused {
            fillClientCapabilities() {}
            initialize() {}
            getState() { return { kind: 'static' }; }
            clear() {}
          }
          ${names.map((name) => `exports.${name} = Unused;`).join('\n')}`,
      };
    });
  },
};

/** Leaves the language client in a bundle of its own. */
const clientApart = {
  name: 'client-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/client$/ }, ({ kind }) =>
      kind === 'dynamic-import' ? { path: './client.js', external: true } : undefined,
    );
  },
};

const common = {
  bundle: true,
  minify: true,
  legalComments: 'none',
  logLevel: 'warning',
  metafile: true,
  outdir: 'dist',
};

/** Bundles the extension and returns the size of each bundle in bytes. */
export async function build() {
  const results = await Promise.all([
    esbuild.build({
      ...common,
      entryPoints: { extension: 'extension/src/extension.ts', client: 'extension/src/client.ts' },
      platform: 'node',
      format: 'cjs',
      target: 'node20',
      external: ['vscode'],
      plugins: [withoutUnusedFeatures, clientApart],
      // The editor hands "vscode" to what require() loads.
      supported: { 'dynamic-import': false },
    }),
    esbuild.build({
      ...common,
      entryPoints: { web: 'extension/src/web.ts' },
      platform: 'browser',
      format: 'cjs',
      target: 'es2022',
      external: ['vscode'],
    }),
    esbuild.build({
      ...common,
      entryPoints: { view: 'extension/src/view/page/main.ts' },
      platform: 'browser',
      format: 'iife',
      target: 'es2022',
    }),
  ]);
  const sizes = Object.entries(Object.assign({}, ...results.map(({ metafile }) => metafile.outputs))).map(
    ([file, { bytes }]) => ({ file, bytes }),
  );
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total > sizeLimit) {
    throw new Error(`the bundles have ${total} bytes; the limit is ${sizeLimit}`);
  }
  return sizes;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const { file, bytes } of await build()) {
    console.log(`${file}: ${Math.round(bytes / 1000)} kB`);
  }
}
