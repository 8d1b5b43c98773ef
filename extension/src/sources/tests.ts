import * as vscode from 'vscode';
import type { TextSource } from '../diagnosis';

/** What VS Code hands to commands in the menu of a test's message. */
export interface TestMessageContext {
  readonly test?: vscode.TestItem;
  readonly message: vscode.TestMessage;
}

/** A message of a failed test, with its calls where the test's extension tells them. */
export function testMessage({ test, message }: TestMessageContext): TextSource {
  const text = typeof message.message === 'string' ? message.message : message.message.value;
  // Newer editors have a stack with the message. It is innermost first.
  const { stackTrace = [] } = message as { stackTrace?: readonly StackFrame[] };
  const calls = stackTrace
    .toReversed()
    .flatMap(({ label, uri, position }) =>
      uri === undefined || position === undefined
        ? []
        : [`  File "${uri.fsPath}", line ${position.line + 1}, in ${label}`],
    );
  const head = 'Traceback (most recent call last):';
  const lines = calls.length === 0 || text.includes(head) ? [text] : [head, ...calls, text];
  return {
    kind: 'text',
    name: test === undefined ? 'a failed test' : `the test ${test.label}`,
    text: lines.join('\n'),
  };
}

interface StackFrame {
  readonly label: string;
  readonly uri?: vscode.Uri;
  readonly position?: vscode.Position;
}
