;; Drives the language server from Emacs 28 or newer with eglot, as a user does:
;;
;;   emacs -q --batch -l emacs.el
;;
;; in a folder with train.py, which leaks where the meter in meter.py keeps
;; graphs, and other.py, which leaks by itself.  GRAPHLEAK is the program.
;; (-q and not -Q: Debian's site files put eglot on the load path.)

(require 'package)
(package-initialize)
(require 'eglot)
(require 'flymake)
(setq eglot-sync-connect 20
      eglot-autoshutdown nil
      eglot-confirm-server-initiated-edits nil
      eglot-events-buffer-size 0
      eglot-send-changes-idle-time 0.05
      make-backup-files nil
      create-lockfiles nil)
(add-to-list 'eglot-server-programs `(python-mode . (,(getenv "GRAPHLEAK") "serve")))

(defun wait-for (what condition)
  (let ((end (+ (float-time) 20)))
    (while (and (not (funcall condition)) (< (float-time) end))
      (accept-process-output nil 0.02)
      (sit-for 0.02))
    (or (funcall condition) (error "timeout: %s" what))))

;; In batch mode there is no redisplay, so Flymake is asked for a check.
(defun findings ()
  (flymake-start)
  (flymake-diagnostics))

(defun visit (file)
  (find-file file)
  (python-mode)
  (unless (bound-and-true-p eglot--managed-mode)
    (if (eglot-current-server)
        (eglot--maybe-activate-editing-mode)
      (apply #'eglot--connect (eglot--guess-contact))))
  (wait-for "eglot" (lambda () (bound-and-true-p eglot--managed-mode)))
  (flymake-mode 1))

(defun edited () (eglot--signal-textDocument/didChange))

(defun apply-action (title)
  (goto-char (flymake-diagnostic-beg (car (findings))))
  (let ((action (seq-find (lambda (a) (string-match-p (regexp-quote title) (plist-get a :title)))
                          (eglot-code-actions (point) (1+ (point)) nil nil))))
    (unless action (error "there is no action %s" title))
    (unless (plist-get action :edit) (error "the action %s has no edit" title))
    (eglot--apply-workspace-edit (plist-get action :edit))
    (edited)))

(visit "train.py")
(wait-for "the finding" (lambda () (= 1 (length (findings)))))
(let ((found (car (findings))))
  (unless (equal "loss" (buffer-substring (flymake-diagnostic-beg found) (flymake-diagnostic-end found)))
    (error "it is at the wrong place"))
  (unless (string-match-p "loss" (flymake-diagnostic-text found))
    (error "it says %s" (flymake-diagnostic-text found))))

;; What is typed in another file, which is not saved, counts.
(let ((train (current-buffer)))
  (visit "meter.py")
  (goto-char (point-min))
  (search-forward "+= value")
  (insert ".item()")
  (edited)
  (set-buffer train)
  (wait-for "no finding with another meter" (lambda () (null (findings))))
  (set-buffer "meter.py")
  (delete-char -7)
  (edited)
  (set-buffer train)
  (wait-for "the finding again" (lambda () (= 1 (length (findings))))))

;; A comment, a quick fix, and all fixes of the file.
(visit "other.py")
(wait-for "the findings of another file" (lambda () (= 2 (length (findings)))))
(buffer-enable-undo)
(apply-action "Ignore GL101 on this line")
(wait-for "the comment" (lambda () (string-match-p "# graphleak: ignore\\[GL101\\]" (buffer-string))))
(goto-char (point-min))
(re-search-forward "  # graphleak.*$")
(replace-match "")
(edited)
(wait-for "both findings again" (lambda () (= 2 (length (findings)))))
(apply-action "detach")
(wait-for "the fix" (lambda () (= 1 (length (findings)))))
(apply-action "detach")
(wait-for "no finding" (lambda () (null (findings))))

(eglot-shutdown (eglot-current-server))
(message "PASSED")
