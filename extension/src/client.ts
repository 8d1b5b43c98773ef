import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  type ErrorHandler,
  LanguageClient,
  type LanguageClientOptions,
  RevealOutputChannelOn,
} from 'vscode-languageclient/node';
import { pageUri } from './page';
import type { ServerProcess } from './process';

/**
 * The Python documents that the server is told about, and the files that
 * configure its checks. Schemes are listed because a selector without them also
 * matches terminals, output channels and the old side of a diff.
 */
const documentSelector = [
  ...['file', 'untitled', 'vscode-notebook-cell', 'vscode-remote', 'vscode-vfs', 'vsls'].map((scheme) => ({
    language: 'python',
    scheme,
  })),
  { scheme: 'file', pattern: '**/pyproject.toml' },
];

/** A language client that leaves restarts and messages to its {@link Server}. */
export class Client extends LanguageClient {
  constructor(server: ServerProcess, output: vscode.LogOutputChannel) {
    const errorHandler: ErrorHandler = {
      error: () => ({ action: ErrorAction.Continue, handled: true }),
      closed: () => ({
        action: CloseAction.DoNotRestart,
        handled: true,
        message: 'The connection to the server closed',
      }),
    };
    const options: LanguageClientOptions = {
      documentSelector,
      outputChannel: output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      errorHandler,
      initializationFailedHandler: () => false,
      middleware: {
        handleDiagnostics: (uri, diagnostics, next) => {
          next(uri, diagnostics.map(linkedToPage));
        },
        provideDiagnostics: async (document, previous, token, next) => {
          const report = await next(document, previous, token);
          return report && 'items' in report ? { ...report, items: report.items.map(linkedToPage) } : report;
        },
        provideWorkspaceDiagnostics: (known, token, reporter, next) =>
          next(known, token, (chunk) => {
            reporter(
              chunk && {
                items: chunk.items.map((report) =>
                  'items' in report ? { ...report, items: report.items.map(linkedToPage) } : report,
                ),
              },
            );
          }),
      },
    };
    super('graphleak', 'Graphleak', () => Promise.resolve({ reader: server.stdout, writer: server.stdin }), options);
  }

  // The base class raises a notification of its own for some errors.
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

/** Has the code of a finding lead to the page about its rule in the editor, which needs no network. */
function linkedToPage(diagnostic: vscode.Diagnostic): vscode.Diagnostic {
  if (typeof diagnostic.code === 'object') {
    const { value } = diagnostic.code;
    diagnostic.code = { value, target: pageUri(String(value)) };
  }
  return diagnostic;
}
