-- Drives the language server from Neovim 0.7 or newer, as a user does:
--
--   nvim --headless -u NONE -i NONE -n -c 'luafile neovim.lua'
--
-- in a folder with train.py, which leaks where the meter in meter.py keeps
-- graphs, and other.py, which leaks by itself. GRAPHLEAK is the program.

local function wait(what, condition)
  assert(vim.wait(20000, condition, 20), 'timeout: ' .. what)
end

local function open(file)
  vim.cmd('edit ' .. file)
  vim.bo.filetype = 'python'
  return vim.api.nvim_get_current_buf()
end

local function findings(buf)
  return #vim.diagnostic.get(buf)
end

local function line_of(buf, diagnostic)
  return vim.api.nvim_buf_get_lines(buf, diagnostic.lnum, diagnostic.lnum + 1, false)[1]
end

local chosen -- the title that the user picks from the actions
vim.ui.select = function(items, _, pick)
  for i, item in ipairs(items) do
    local action = item[2] or item.action or item
    if action.title:lower():find(chosen:lower(), 1, true) then
      return pick(item, i)
    end
  end
  error('there is no action ' .. chosen)
end

local function run()
  local train = open('train.py')
  local client = vim.lsp.start_client({
    name = 'graphleak',
    cmd = { os.getenv('GRAPHLEAK'), 'serve' },
    root_dir = vim.fn.getcwd(),
    workspace_folders = { { uri = vim.uri_from_fname(vim.fn.getcwd()), name = 'project' } },
  })
  vim.lsp.buf_attach_client(train, client)
  wait('the finding', function() return findings(train) == 1 end)
  local found = vim.diagnostic.get(train)[1]
  assert(found.source == 'graphleak', found.source)
  assert(line_of(train, found):sub(found.col + 1, found.end_col) == 'loss', 'it is at the wrong place')

  -- The hover.
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })
  local hovers = vim.lsp.buf_request_sync(train, 'textDocument/hover', vim.lsp.util.make_position_params(), 5000)
  local hover = vim.tbl_values(hovers)[1].result
  assert(hover.contents.value:find('GL103', 1, true), vim.inspect(hover))

  -- What is typed elsewhere, in another file that is not saved, counts.
  local meter = open('meter.py')
  vim.lsp.buf_attach_client(meter, client)
  local text = vim.api.nvim_buf_get_lines(meter, 0, -1, false)
  for i, line in ipairs(text) do
    text[i] = line:gsub('%+= value$', '+= value.item()')
  end
  vim.api.nvim_buf_set_lines(meter, 0, -1, false, text)
  wait('no finding with another meter', function() return findings(train) == 0 end)
  vim.cmd('undo')
  wait('the finding again', function() return findings(train) == 1 end)

  -- A quick fix, a comment, and all fixes of the file.
  local other = open('other.py')
  vim.lsp.buf_attach_client(other, client)
  wait('the findings of another file', function() return findings(other) == 2 end)
  local function act(title)
    local d = vim.diagnostic.get(other)[1]
    vim.api.nvim_win_set_cursor(0, { d.lnum + 1, d.col })
    chosen = title
    vim.lsp.buf.code_action()
    return d
  end
  local fixed = act('detach')
  wait('the fix', function() return line_of(other, fixed):find('.detach()', 1, true) ~= nil and findings(other) == 1 end)
  vim.cmd('undo')
  wait('both findings again', function() return findings(other) == 2 end)
  local ignored = act('Ignore GL101 on this line')
  wait('the comment', function() return line_of(other, ignored):find('# graphleak: ignore[GL101]', 1, true) ~= nil end)
  vim.cmd('undo')
  wait('both findings once more', function() return findings(other) == 2 end)
  act('Apply all safe fixes of GL101 in this file')
  wait('all fixes', function() return findings(other) == 0 end)

  -- What the project and the user say about the rules. Neovim 0.7 does not watch
  -- files: a configuration is noticed when a file is saved.
  local function configure(content)
    if content then
      local file = assert(io.open('pyproject.toml', 'w'))
      file:write(content)
      file:close()
    else
      os.remove('pyproject.toml')
    end
    vim.cmd('write!')
  end
  configure('[tool.graphleak]\nignore = ["GL103"]\n')
  wait('no finding as configured', function() return findings(train) == 0 end)
  configure(nil)
  wait('the finding without the configuration', function() return findings(train) == 1 end)
  local function set(settings)
    local c = vim.lsp.get_client_by_id(client)
    c.config.settings = { graphleak = settings }
    c.notify('workspace/didChangeConfiguration', { settings = c.config.settings })
  end
  set({ severity = { GL103 = 'hint' } })
  wait('the severity that is set', function()
    local d = vim.diagnostic.get(train)[1]
    return d ~= nil and d.severity == vim.diagnostic.severity.HINT
  end)
  set({ ignore = { 'GL1' } })
  wait('no finding as set', function() return findings(train) == 0 end)
  set({})
  wait('the finding as before', function() return findings(train) == 1 end)

  -- Half-typed code keeps what was found.
  vim.api.nvim_set_current_buf(train)
  local last = vim.api.nvim_buf_line_count(train)
  vim.api.nvim_buf_set_lines(train, last, last, false, { '', 'def half(self, ' })
  vim.wait(300)
  assert(findings(train) == 1, 'the finding flickers')

  vim.lsp.stop_client(client)
  wait('the end of the server', function() return vim.lsp.client_is_stopped(client) end)
end

local ok, err = pcall(run)
if not ok then
  io.stdout:write('FAILED ' .. tostring(err) .. '\n')
  vim.cmd('cquit 1')
end
io.stdout:write('PASSED\n')
vim.cmd('qall!')
