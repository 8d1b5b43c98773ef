import * as vscode from 'vscode';
import type { Diagnoser } from './diagnoser';
import type { Source } from './diagnosis';
import { type FailedCommand, sourceOf, type Terminals } from './sources/terminals';

// What the server answers about a text in which it knows no failure of its
// pages: not worth an offer.
const unknown = new Set(['unknown', 'python.exception', 'env.import']);

/**
 * Offers to diagnose a command that has failed, by an entry in the status bar
 * that goes away with the next command. Only for failures that the server
 * recognises.
 */
export class Offer implements vscode.Disposable {
  readonly #diagnoser: Diagnoser;
  readonly #item: vscode.StatusBarItem;
  readonly #subscriptions: { dispose(): unknown }[];
  #terminal: vscode.Terminal | undefined;

  constructor(diagnoser: Diagnoser, terminals: Terminals, report: (error: unknown) => void) {
    this.#diagnoser = diagnoser;
    this.#item = vscode.window.createStatusBarItem('offer', vscode.StatusBarAlignment.Left, -100);
    this.#item.name = 'Graphleak: Diagnose Failed Command';
    this.#item.text = '$(pulse) Diagnose failure';
    this.#item.backgroundColor = new vscode.ThemeColor('statusBarItem.warningBackground');
    this.#subscriptions = [
      this.#item,
      terminals.onDidFail((failed) => {
        this.#consider(failed).catch(report);
      }),
      terminals.onDidMoveOn((terminal) => {
        if (terminal === this.#terminal) {
          this.#item.hide();
        }
      }),
    ];
  }

  dispose(): void {
    this.#subscriptions.forEach((subscription) => void subscription.dispose());
  }

  async #consider(failed: FailedCommand): Promise<void> {
    const wanted = vscode.workspace.getConfiguration('graphleak').get<boolean>('terminal.offerDiagnosis', true);
    if (!wanted || failed.output.trim() === '') {
      return;
    }
    this.#terminal = failed.terminal;
    const source: Source = sourceOf(failed);
    const { token } = new vscode.CancellationTokenSource();
    const { diagnosis } = await this.#diagnoser.ask(source, token);
    if (!unknown.has(diagnosis.failure)) {
      this.#item.tooltip = `${diagnosis.title} (Graphleak)`;
      this.#item.accessibilityInformation = { label: `Diagnose failure: ${diagnosis.title}`, role: 'button' };
      this.#item.command = { command: 'graphleak.diagnoseText', title: 'Diagnose', arguments: [source] };
      this.#item.show();
    }
  }
}
