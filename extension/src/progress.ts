import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';

/**
 * Awaits a task, with a progress notification that can cancel it once the task
 * takes long enough for a person to wonder. Returns undefined when cancelled.
 */
export async function cancellable<T>(
  title: string,
  run: (token: vscode.CancellationToken) => Promise<T>,
): Promise<T | undefined> {
  const cancellation = new vscode.CancellationTokenSource();
  try {
    const task = run(cancellation.token);
    const quick = await Promise.race([task.then(() => true), delay(300, false)]);
    if (!quick) {
      const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
      await vscode.window.withProgress(options, (_, token) => {
        token.onCancellationRequested(() => {
          cancellation.cancel();
        });
        return task;
      });
    }
    return await task;
  } catch (error) {
    if (cancellation.token.isCancellationRequested) {
      return undefined;
    }
    throw error;
  } finally {
    cancellation.dispose();
  }
}
