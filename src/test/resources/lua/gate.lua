-- Calls a rendered job_submit.lua as slurmctld would: lua gate.lua JOB_SUBMIT_LUA APPROVED_DIR SHA256_OF_SCRIPT
-- The policy: 64 GPU-hours; users `boss` and partitions `debug` pass; nodes of `gpu` have 8 GPUs.
local APPROVED, SHA = arg[2], arg[3]
local SCRIPT = "#!/bin/bash\necho approved\n"
local said, logged = {}, {}
slurm = {
  SUCCESS = 0, ERROR = -1, ESLURM_ACCESS_DENIED = 2002,
  NO_VAL = 4294967294, NO_VAL16 = 65534, INFINITE = 4294967295,
  log_user = function(...) said[#said + 1] = string.format(...) end,
  log_info = function(...) logged[#logged + 1] = string.format(...) end,
  log_error = function(...) logged[#logged + 1] = string.format(...) end,
}
assert(loadfile(arg[1]))()

local PARTS = {
  gpu = { flag_default = 1, max_time = 2880, default_time = 60, max_share = 1, max_nodes = slurm.INFINITE, total_nodes = 4 },
  whole = { flag_default = 0, max_time = 2880, default_time = 60, max_share = 0, max_nodes = 2, total_nodes = 4 },
  endless = { flag_default = 0, max_time = slurm.INFINITE, default_time = slurm.NO_VAL, max_share = 1, total_nodes = 4 },
  debug = { flag_default = 0, max_time = 60, default_time = 60, max_share = 1, total_nodes = 4 },
}
local failures = 0
local function fail(...)
  failures = failures + 1
  print(string.format(...))
end

local function request(fields)
  local job = { user_id = 1001, user_name = "ada", script = SCRIPT, name = "x", requeue = 0, time_limit = 60,
    min_nodes = slurm.NO_VAL, max_nodes = slurm.NO_VAL, num_tasks = slurm.NO_VAL, min_cpus = 1,
    cpus_per_task = slurm.NO_VAL16, shared = slurm.NO_VAL16, ntasks_per_tres = slurm.NO_VAL16,
    sockets_per_node = slurm.NO_VAL16, het_job_offset = slurm.NO_VAL }
  for key, value in pairs(fields) do job[key] = value end
  for key, value in pairs(job) do
    if type(value) == "number" then job[key] = value + 0.0 end -- as lua_pushnumber makes them
  end
  if fields.no_script then job.script = nil end
  return job
end

local function submitted(fields, uid)
  said, logged = {}, {}
  local job = request(fields)
  return slurm_job_submit(job, PARTS, uid or 1001) == slurm.SUCCESS, table.concat(said, "\n"), job
end

local function passes(what, fields, uid)
  local ok, why = submitted(fields, uid)
  if not ok then fail("refused: %s: %s", what, why) end
end

local function refused(what, fields, expected)
  local ok, why = submitted(fields)
  if ok then fail("let through: %s", what) end
  if not string.find(why, expected or "need an approval", 1, true) then fail("%s: said %s", what, why) end
  if not string.find(why, "need", 1, true) then fail("%s: does not say what to do: %s", what, why) end
end

-- Hours ---------------------------------------------------------------------------------------------
passes("no GPU at all", { time_limit = slurm.INFINITE })
passes("no GPU, named", { time_limit = slurm.INFINITE, tres_per_node = "gres:gpu:0" })
passes("64 GPU-hours", { tres_per_job = "gres:gpu:64" })
refused("a minute more", { tres_per_job = "gres:gpu:64", time_limit = 61 }, "(1 tasks x 64 GPUs x 61 minutes)")
passes("the partition's default time", { tres_per_job = "gres:gpu:64", time_limit = slurm.NO_VAL })
refused("no limit", { tres_per_job = "gres:gpu:1", time_limit = slurm.INFINITE }, "unlimited GPU-hours")
refused("no limit anywhere", { tres_per_job = "gres:gpu:1", time_limit = slurm.NO_VAL, partition = "endless" })
refused("an unknown partition", { tres_per_job = "gres:gpu:1", time_limit = slurm.NO_VAL, partition = "secret" })
passes("8 on each of 4 nodes for two hours", { tres_per_node = "gres:gpu:h100:8", min_nodes = 4, max_nodes = 4, time_limit = 120 })
refused("more nodes, if there are", { tres_per_node = "gres:gpu:8", min_nodes = 1, max_nodes = 4, time_limit = 121 })
refused("a node for each task", { tres_per_node = "gres:gpu:8", num_tasks = 9, time_limit = 121 })
refused("nodes by name", { tres_per_node = "gres:gpu:8", req_nodes = "n[1-3],m1", time_limit = 121 }, "x 32 GPUs")
refused("nodes by names", { tres_per_node = "gres:gpu:8", req_nodes = "r[1,2]n[1-2]", min_nodes = 1, time_limit = 121 }, "x 32 GPUs")
refused("no nodes at all", { tres_per_node = "gres:gpu:8", min_nodes = 0, max_nodes = 0, num_tasks = 0, time_limit = 481 })
refused("no time at all", { tres_per_job = "gres:gpu:1", time_limit = 0 }, "unlimited GPU-hours")
refused("tasks on each node", { tres_per_task = "gres:gpu:1", ntasks_per_node = 8, min_nodes = 4, max_nodes = 4, time_limit = 121 })
refused("tasks on each socket", { tres_per_task = "gres:gpu:1", ntasks_per_socket = 1 }, "unlimited")
refused("no sockets", { tres_per_socket = "gres:gpu:1", sockets_per_node = 0 }, "unlimited")
passes("tasks on each node, at most", { tres_per_task = "gres:gpu:1", ntasks_per_node = 8, num_tasks = 8, time_limit = 480 })
passes("no more nodes than there are", { tres_per_node = "gres:gpu:8", num_tasks = 900, time_limit = 120 })
refused("GPUs of tasks", { tres_per_task = "gres:gpu:1", num_tasks = 65 })
refused("GPUs of tasks, as later Slurms write it", { tres_per_task = "cpu:4,gres/gpu:1", num_tasks = 65 })
refused("65534 tasks are tasks", { tres_per_task = "gres:gpu:1", num_tasks = 65534 })
refused("tasks of GPUs", { ntasks_per_tres = 2, num_tasks = 130 })
passes("tasks of GPUs", { ntasks_per_tres = 2, num_tasks = 128 })
refused("sockets that nobody counted", { tres_per_socket = "gres:gpu:1" })
passes("sockets", { tres_per_socket = "gres:gpu:4", sockets_per_node = 2, min_nodes = 4, max_nodes = 4 })
refused("two types", { tres_per_job = "gres:gpu:a100:40", tres_per_node = "gres:gpu:h100:8", min_nodes = 4, max_nodes = 4 })
for _, form in ipairs({ "gres:gpu:65", "gres/gpu=65", "gpu:h100:65", "gres/gpu:h100=65", "GRES:GPU:65", " gres:gpu:65",
  "gres:shard:1,gres:gpu:64", "gres:gpu:33,gres:gpu:a100:32", "gpu:1:2:3", "gpu:9k", "gpu=a=b", "gres:gpu:+65",
  "gres:gpu: 65", "gres:gpu:\t+065", "gres:gpu:000065", "gres:gpu:h100:+65", "gres:gpu:h100: 65", "gpu:1K", "gpu:1kib", "gpu:a:1MB",
  "gres:gpu:-8", "gres:gpu:a:-1", "gres:gpu:18446744073709551617", "gres:gpu:18014398509481985K", "license:a gres:gpu:65",
  "xgres:gpu:65", "gpu :65", "gpu:", "gpu::65", "gpu:a:", "gpu:a:b" }) do
  refused("form " .. form, { tres_per_job = form, min_nodes = 1, max_nodes = 1 })
end
passes("shares are one GPU", { tres_per_job = "gres:shard:400", min_nodes = 1, max_nodes = 1 })
passes("no GPU by another name", { tres_per_job = "gres:gpumem:400" })

-- Arrays
passes("an array", { tres_per_job = "gres:gpu:1", array_inx = "0-63" })
refused("a task more", { tres_per_job = "gres:gpu:1", array_inx = "0-64" })
passes("every second", { tres_per_job = "gres:gpu:1", array_inx = "0-127:2" })
refused("how many at once is no matter", { tres_per_job = "gres:gpu:1", array_inx = "1-100%1" })
refused("how many at once, of each item", { tres_per_job = "gres:gpu:1", array_inx = "1%1,2-100" }, "(100 tasks")
refused("how many at once, of a range", { tres_per_job = "gres:gpu:1", array_inx = "[1-5%2:3,8%,10-100]" }, "(97 tasks")
refused("a list", { tres_per_job = "gres:gpu:8", array_inx = "1,2,3,5-9:2,100-103" })
for _, odd in ipairs({ "x", "5-1", "0-9:0", "1-2-3", "1e9", "%4", ",", "-5" }) do
  refused("array " .. odd, { tres_per_job = "gres:gpu:1", array_inx = odd })
end

-- Whole nodes
refused("a whole node has 8", { shared = 0, time_limit = 8 * 60 + 1 }, "x 8 GPUs x")
refused("so has a partition's", { partition = "whole", time_limit = 481 }, "unlimited GPUs")
passes("a whole node", { shared = 0, time_limit = 480 })
local _, _, marked = submitted({ shared = 0 })
local WHOLE = "nexa:v1:bound(gpus=8,nodes=1,tasks=1,cpus=1,cpus_per_task=1,minutes=60,array=1,whole=1,approved=0,part=0)"
if marked.admin_comment ~= WHOLE then fail("not marked: %s", tostring(marked.admin_comment)) end
-- An update could take its GPUs away, or move it: it keeps the nodes.
for _, fields in ipairs({ { tres_per_node = "gres:gpu:8" }, { partition = "debug" }, { time_limit = 1 } }) do
  fields.shared = 0
  local _, _, job = submitted(fields)
  if not string.find(job.admin_comment, "whole=1", 1, true) then fail("a whole node is not marked") end
end

-- The bound ------------------------------------------------------------------------------------------
local function bound_of(fields)
  local passed, why, job = submitted(fields)
  if not passed then fail("no bound: %s", why) end
  return string.match(job.admin_comment or "", "%b()") or "", job
end
for expected, fields in pairs({
  ["gpus=0,nodes=1,tasks=1,cpus=1,"] = {},
  ["gpus=8,nodes=2,tasks=8,cpus=16,cpus_per_task=2,minutes=30,array=2,"] =
    { tres_per_node = "gres:gpu:4", min_nodes = 2, max_nodes = 2, num_tasks = 8, cpus_per_task = 2, time_limit = 30, array_inx = "1,2" },
  ["gpus=512,nodes=4,tasks=8,cpus=64,"] = { tres_per_task = "gres:gpu:8", num_tasks = 8, pn_min_cpus = 16, time_limit = 7 },
  ["gpus=4,nodes=4,tasks=8,cpus=8,"] = { ntasks_per_tres = 2, num_tasks = 8 },
  ["gpus=2,nodes=2,tasks=8,cpus=8,"] = { ntasks_per_tres = 4, min_nodes = 2, max_nodes = 2, min_cpus = 4 },
}) do
  local found = bound_of(fields)
  if not string.find(found, expected, 1, true) then fail("the bound is %s, not %s", found, expected) end
end
local _, forged = bound_of({ admin_comment = "by hand nexa:v1:bound(gpus=0) nexa:v1:bound(gpus=1)" })
if not string.find(forged.admin_comment, "^by hand nexa:v1:bound%(gpus=0,nodes=1,[^(]+%)$") then
  fail("a forged bound stays: %s", forged.admin_comment)
end
-- Slurm is held to the nodes that were counted.
for nodes, fields in pairs({
  [1] = { tres_per_node = "gres:gpu:8", min_cpus = 128 },
  [2] = { tres_per_node = "gres:gpu:1", num_tasks = 2 },
  [3] = { tres_per_node = "gres:gpu:1", features = "[a*1&b*2]" },
  [4] = { shared = 0, num_tasks = 900, time_limit = 1 },
}) do
  local _, job = bound_of(fields)
  if job.max_nodes ~= nodes then fail("%s nodes at most, not %d", tostring(job.max_nodes), nodes) end
end
local _, spread = bound_of({ tres_per_job = "gres:gpu:3" })
if spread.max_nodes ~= 3 then fail("%s nodes for three GPUs", tostring(spread.max_nodes)) end
local _, free = bound_of({ num_tasks = 100 })
if free.max_nodes ~= slurm.NO_VAL then fail("a job without GPUs is held to nodes") end
refused("GPUs that expand another job", { tres_per_job = "gres:gpu:1", dependency = "expand:7" }, "may not expand")
passes("CPUs that expand another job", { dependency = "Expand:7" })
refused("tasks of GPUs of tasks", { ntasks_per_tres = 4, num_tasks = 1, tres_per_task = "gres:gpu:1" }, "unlimited")
PARTS.elsewhere = { flag_default = 0, max_time = 2880, default_time = 60, max_share = 1, total_nodes = 4, alternate = "whole" }
refused("what stands in for a partition", { partition = "elsewhere", time_limit = 1 }, "unlimited")

-- The parts of a heterogeneous job are judged together.
local function part(offset, hours)
  return { het_job_offset = offset, tres_per_job = "gres:gpu:" .. hours, user_id = 3000 + offset, time_limit = 60 }
end
local function het(uid, ...)
  for offset, hours in ipairs({ ... }) do
    local fields = part(offset - 1, hours)
    fields.user_id = uid
    if not submitted(fields) then return offset - 1 end
  end
  return nil
end
if het(3001, 32, 32) then fail("two parts of 32") end
if het(3002, 32, 32, 1) ~= 2 then fail("a third part let through") end
if het(3003, 1, 1, 62) or het(3003, 1, 1, 62) then fail("the same parts twice") end
if submitted({ het_job_offset = 1, user_id = 3004 }) then fail("a part without one before it") end

-- Whom and where it does not concern
passes("root", { tres_per_job = "gres:gpu:999" }, 0)
passes("an exempt user", { tres_per_job = "gres:gpu:999", user_name = "boss" })
passes("an exempt partition", { tres_per_job = "gres:gpu:999", partition = "debug" })
refused("one of two is not exempt", { tres_per_job = "gres:gpu:999", partition = "debug,gpu" })

-- Approvals -----------------------------------------------------------------------------------------
local function token(id, changes)
  local values = { user = "ada", uid = "1001", account = "nlp", partition = "gpu", qos = "", gpus = "16", gpu_type = "",
    cpus = "32", memory_mib = "65536", nodes = "2", time_limit_minutes = "600", tasks = "4", attempts = "1", uses = "1",
    expires = tostring(os.time() + 60), script_sha256 = SHA }
  for key, value in pairs(changes or {}) do values[key] = value end
  local file = assert(io.open(APPROVED .. "/" .. id, "w"))
  for key, value in pairs(values) do file:write(key, "=", value, "\n") end
  file:close()
end
local count = 0
local function id()
  count = count + 1
  return string.format("%016x", 0xabc0000 + count)
end
-- A request that a token of the above covers entirely.
local function big(changes)
  local job = { tres_per_node = "gres:gpu:8", min_nodes = 2, max_nodes = 2, num_tasks = 2, min_cpus = 32, cpus_per_task = 16,
    min_mem_per_node = 32768, time_limit = 600, array_inx = "0-3", account = "nlp", partition = "gpu" }
  for key, value in pairs(changes) do job[key] = value end
  return job
end

local one = id()
token(one)
local comment = "nexa:v1:" .. one
refused("no comment", big({}))
refused("a comment of his own", big({ comment = "please" }))
refused("nothing installed", big({ comment = "nexa:v1:0000000000000000" }), "has not installed")
for _, odd in ipairs({ "", "x", "../abc0000000000", "/etc/passwd00000", string.upper(one), one .. "0", one .. "\n", one .. "\0",
  string.sub(one, 2), " " .. one, "used/00000000000", "................" }) do
  refused("id " .. odd, big({ comment = "nexa:v1:" .. odd }), "16 digits")
end
for what, case in pairs({
  ["another user"] = { { user_name = "eve" }, "for the user ada" },
  ["another uid"] = { { user_id = 1002 }, "for the user ada" },
  ["another account"] = { { account = "vision" }, "for the account 'nlp'" },
  ["no account"] = { { account = "" }, "for the account 'nlp'" },
  ["another partition"] = { { partition = "endless" }, "for the partition 'gpu'" },
  ["two partitions"] = { { partition = "gpu,endless" }, "for the partition 'gpu'" },
  ["a QOS"] = { { qos = "high" }, "for the QOS ''" },
  ["a changed script"] = { { script = SCRIPT .. " " }, "not the approved one" },
  ["no script"] = { { no_script = true }, "has no script" },
  ["a huge script"] = { { script = string.rep("x", 65537) }, "more than 65536 bytes" },
  ["more GPUs"] = { { tres_per_node = "gres:gpu:9" }, "18 GPUs, the approval covers 16" },
  ["GPUs in another way"] = { { tres_per_job = "gres:gpu:17" }, "17 GPUs" },
  ["more nodes"] = { { max_nodes = 3, tres_per_node = "gres:gpu:4" }, "3 nodes" },
  ["longer"] = { { time_limit = 601 }, "601 minutes" },
  ["more tasks"] = { { array_inx = "0-4" }, "5 array tasks" },
  ["more CPUs"] = { { min_cpus = 33 }, "33 CPUs" },
  ["more CPUs a task"] = { { cpus_per_task = 17 }, "34 CPUs" },
  ["more memory"] = { { min_mem_per_node = 32769 }, "MiB of memory" },
  ["all memory"] = { { min_mem_per_node = 0 }, "unlimited MiB" },
  ["memory for each CPU"] = { { min_mem_per_node = "", min_mem_per_cpu = 1 }, "memory by the CPU" },
  ["all memory by the CPU"] = { { min_mem_per_node = "", min_mem_per_cpu = 0 }, "memory by the CPU" },
  ["the default memory"] = { { min_mem_per_node = "" }, "unlimited MiB" },
  ["more CPUs a node"] = { { pn_min_cpus = 17 }, "34 CPUs, the approval covers 32" },
  ["at most more CPUs"] = { { max_cpus = 33 }, "33 CPUs" },
  ["more tasks a node"] = { { ntasks_per_node = 2 }, "64 CPUs" },
  ["a node for each, tasks not told"] = { { num_tasks = slurm.NO_VAL, min_cpus = slurm.NO_VAL, cpus_per_task = 17 }, "34 CPUs" },
  ["more nodes, if there are"] = { { min_nodes = 1, max_nodes = 4, tres_per_node = "gres:gpu:4" }, "4 nodes" },
  ["whole nodes"] = { { shared = 0 }, "whole nodes (--exclusive)" },
  ["a user's nodes"] = { { shared = 2 }, "whole nodes" },
  ["sockets"] = { { sockets_per_node = 2 }, "CPUs by the hardware (--sockets-per-node)" },
  ["cores"] = { { cores_per_socket = 64 }, "--cores-per-socket" },
  ["a thread of each core"] = { { threads_per_core = 1 }, "--threads-per-core" },
  ["a task on each core"] = { { ntasks_per_core = 1 }, "--ntasks-per-core" },
  ["a task on each socket"] = { { ntasks_per_socket = 1 }, "--ntasks-per-socket" },
  ["tasks of each GPU"] = { { ntasks_per_tres = 8 }, "--ntasks-per-gpu" },
  ["GPUs of each socket"] = { { tres_per_node = "", tres_per_socket = "gres:gpu:1" }, "unlimited GPUs" },
  ["another case"] = { { partition = "GPU" }, "for the partition 'gpu'" },
  ["CPUs by the GPU"] = { { cpus_per_tres = "gres:gpu:16" }, "by the GPU" },
  ["memory by the GPU"] = { { mem_per_tres = "gres:gpu:9000" }, "by the GPU" },
  ["attempts"] = { { requeue = 1 }, "--no-requeue" },
  ["attempts by default"] = { { requeue = slurm.NO_VAL16 }, "--no-requeue" },
  ["a part of a heterogeneous job"] = { { het_job_offset = 0 }, "heterogeneous" },
}) do
  case[1].comment = comment
  local job = big(case[1])
  if job.min_mem_per_node == "" then job.min_mem_per_node = nil end
  refused(what, job, case[2])
end
-- As Slurm 22.05 says that nothing was given.
passes("what was approved", big({ comment = comment, pn_min_cpus = slurm.NO_VAL16, max_cpus = slurm.NO_VAL, boards_per_node = 0,
  sockets_per_board = 0, ntasks_per_board = 0, ntasks_per_core = slurm.NO_VAL16, threads_per_core = 65535, ntasks_per_node = 1 }))
refused("once more", big({ comment = comment }), "used up")

local parts = id()
token(parts, { uses = "2" })
passes("in parts", big({ comment = "nexa:v1:" .. parts, array_inx = "0-2" }))
passes("in parts", big({ comment = "nexa:v1:" .. parts, array_inx = "3-6" }))
refused("one too many", big({ comment = "nexa:v1:" .. parts, array_inx = "0-1" }), "1 array tasks left")
passes("the last", big({ comment = "nexa:v1:" .. parts, array_inx = "0" }))

for what, case in pairs({
  ["an expired approval"] = { { expires = tostring(os.time() - 1) }, "expired" },
  ["no expiry"] = { { expires = "" }, "expired" },
  ["no limit"] = { { gpus = "" }, "16 GPUs" },
  ["no uses"] = { { uses = "" }, "used up" },
  ["no digest"] = { { script_sha256 = "" }, "not the approved one" },
}) do
  local other = id()
  token(other, case[1])
  refused(what, big({ comment = "nexa:v1:" .. other }), case[2])
end
local typed = id()
token(typed, { gpu_type = "H100", attempts = "3", account = "", partition = "" })
refused("a dearer type", big({ comment = "nexa:v1:" .. typed, tres_per_node = "gres:gpu:b200:8", default_account = "nlp" }),
  "asks for b200")
passes("the type, requeued, default account and partition",
  big({ comment = "nexa:v1:" .. typed, tres_per_node = "gres:gpu:h100:8", requeue = 1, account = "NLP", default_account = "nlp" }))

local nodes = id()
token(nodes, { exclusive = "1", uses = "2" })
passes("whole nodes", big({ comment = "nexa:v1:" .. nodes, shared = 0 }))
refused("whole nodes of a user", big({ comment = "nexa:v1:" .. nodes, shared = 2 }), "whole nodes")
passes("shared nodes", big({ comment = "nexa:v1:" .. nodes, shared = 1 }))
local shared = id()
token(shared, { exclusive = "0" })
refused("whole nodes", big({ comment = "nexa:v1:" .. shared, shared = 0 }), "whole nodes")

-- A directory, an empty file, rubbish: nothing is covered by them.
local empty = id()
io.open(APPROVED .. "/" .. empty, "w"):close()
refused("an empty file", big({ comment = "nexa:v1:" .. empty }), "expired")

-- Where uses can't be counted nothing is let through.
local stuck = id()
token(stuck)
os.execute("mkdir '" .. APPROVED .. "/used/" .. stuck .. "'")
local ok = submitted(big({ comment = "nexa:v1:" .. stuck }))
if ok then fail("let through uncounted") end

-- Digests of all lengths around the blocks' borders come from Java.
for line in io.lines(arg[4]) do
  local length, digest = string.match(line, "^(%d+) (%x+)$")
  local each = id()
  token(each, { script_sha256 = digest })
  local text = {}
  for i = 1, tonumber(length) do text[i] = string.char((i * 7 + 3) % 255 + 1) end
  passes("a script of " .. length, big({ comment = "nexa:v1:" .. each, script = table.concat(text) }))
end

local big_job = big({ comment = "nexa:v1:0000000000000000" })
-- Errors --------------------------------------------------------------------------------------------
local function broken(fields, bad)
  return setmetatable({}, { __index = function(_, key)
    if key == bad then error("no such field: " .. key) end
    return request(fields)[key]
  end })
end
local function verdict(job) said, logged = {}, {} return slurm_job_submit(job, PARTS, 1001) end
if verdict(broken({ tres_per_job = "gres:gpu:65" }, "comment")) == 0 then fail("an error let a large job through") end
if #logged == 0 then fail("an error is not logged") end
if verdict(broken({ tres_per_job = "gres:gpu:1" }, "array_inx")) == 0 then fail("what can't be told was let through") end
if verdict(nil) ~= slurm.ESLURM_ACCESS_DENIED then fail("no job at all") end
local log_user, log_error = slurm.log_user, slurm.log_error
slurm.log_user, slurm.log_error = nil, function() error("no log") end
if verdict(broken({}, "array_inx")) ~= slurm.ESLURM_ACCESS_DENIED then fail("an error in the error's handler") end
slurm.log_user, slurm.log_error = log_user, log_error
-- Whichever field can't be read, and whichever function of Lua's own fails: none lets a job through by that. The same
-- job is refused or passes without the error, so the field or function does not matter for it.
local function each_read(fields, judge)
  local read = {}
  local spy = setmetatable({}, { __index = function(_, key) read[key] = true return request(fields)[key] end })
  judge(spy)
  return read
end
for field in pairs(each_read(big_job, verdict)) do
  if verdict(broken(big_job, field)) == 0 then fail("an error of %s lets a large job through", field) end
  if verdict(broken({ tres_per_job = "gres:gpu:1" }, field)) == 0 and each_read({ tres_per_job = "gres:gpu:1" }, verdict)[field] then
    fail("an error of %s lets a job through", field)
  end
end
for _, place in ipairs({ string, math, os, io, table, _G }) do
  for name, original in pairs(place) do
    if type(original) == "function" and name ~= "error" and name ~= "pcall" and name ~= "slurm_job_submit" then
      local failing = true
      local function broken_function(...)
        if failing then
          failing = false
          error("broken " .. name)
        end
        return original(...)
      end
      local job = request(big_job)
      place[name] = broken_function
      local result = slurm_job_submit(job, PARTS, 1001)
      place[name] = original
      if result == 0 then fail("an error in %s lets a job through", name) end
    end
  end
end

-- Updates -------------------------------------------------------------------------------------------
local function modified(record, update, uid)
  local job = { user_id = 1001, user_name = "ada", job_id = 7, partition = "gpu", account = "nlp", min_nodes = 2, max_nodes = 2,
    min_cpus = 32, pn_min_cpus = 16, min_mem_per_node = 32768, time_limit = 600, tres_per_node = "gres:gpu:8",
    array_task_cnt = 4, comment = comment, end_time = 1000, qos = "normal", admin_comment =
    "nexa:v1:bound(gpus=16,nodes=2,tasks=2,cpus=32,cpus_per_task=16,minutes=600,array=4,whole=0,approved=1,part=0)" }
  for key, value in pairs(record) do job[key] = value end
  local asked = { user_id = 1001, time_limit = slurm.NO_VAL, min_nodes = slurm.NO_VAL, max_nodes = slurm.NO_VAL, end_time = 0,
    num_tasks = slurm.NO_VAL, min_cpus = slurm.NO_VAL, cpus_per_task = slurm.NO_VAL16, shared = slurm.NO_VAL16,
    requeue = slurm.NO_VAL16, sockets_per_node = slurm.NO_VAL16,
    pn_min_cpus = slurm.NO_VAL16, max_cpus = slurm.NO_VAL, boards_per_node = 0 }
  for key, value in pairs(update) do asked[key] = value end
  for _, fields in ipairs({ job, asked }) do
    for key, value in pairs(fields) do
      if type(value) == "number" then fields[key] = value + 0.0 end
    end
  end
  return slurm_job_modify(asked, job, PARTS, uid or 1001) == slurm.SUCCESS
end
local WIDER = {
  { time_limit = 601 }, { time_limit = slurm.INFINITE }, { end_time = 1001 }, { min_nodes = 3 }, { max_nodes = 3 },
  { req_nodes = "n[1-3]" }, { ntasks_per_node = 1 }, { time_limit = 0 },
  { num_tasks = 3 }, { min_cpus = 33 }, { max_cpus = 33 }, { cpus_per_task = 17 }, { pn_min_cpus = 17 }, { max_nodes = 0 },
  { pn_min_cpus = 1 }, { shared = 2 }, { sockets_per_node = 2 }, { cores_per_socket = 8 }, { threads_per_core = 1 },
  { ntasks_per_tres = 2 }, { ntasks_per_socket = 2 }, { tres_per_node = "gpu:9" }, { tres_per_job = "gpu:1" },
  { tres_per_node = "gpu:b200:8" }, { min_mem_per_node = 32769 }, { min_mem_per_node = 0 }, { min_mem_per_cpu = 1 },
  { min_nodes = slurm.INFINITE }, { tres_per_node = "gpu:+9" }, { tres_per_node = "gpu: 9" }, { tres_per_node = "gpu:1K" }, { tres_per_node = "gpu:-1" },
  { dependency = "expand:8" }, { comment = "nexa:v2:x" }, { ntasks_per_node = 8 }, { partition = "gpu,whole" },
  { shared = 0 }, { requeue = 1 }, { partition = "whole" }, { qos = "high" }, { cpus_per_tres = "gpu:16" }, { mem_per_tres = "gpu:9000" }, { account = "vision" }, { comment = "" },
  { comment = "nexa:v1:" .. parts }, { time_limit = 10, tres_per_node = "gpu:9" } }
local NARROWER = {
  {}, { time_limit = 600 }, { time_limit = 1 }, { min_nodes = 1, max_nodes = 1 }, { min_nodes = 1 }, { req_nodes = "n[1-2]" }, { num_tasks = 1 },
  { pn_min_cpus = 16 }, { pn_min_cpus = 0 }, { cpus_per_task = 1 }, { min_cpus = 2 }, { max_cpus = 32 }, { tres_per_node = "gpu:7" }, { min_mem_per_node = 100 }, { shared = 1 }, { requeue = 0 }, { partition = "gpu" },
  { account = "NLP" }, { comment = comment }, { array_inx = "2" }, { priority = 0 }, { dependency = "afterok:1" } }
for _, update in ipairs(WIDER) do
  local key = next(update)
  if modified({}, update) then fail("widened by %s=%s", key, tostring(update[key])) end
  if not modified({}, update, 0) then fail("root may not: %s", key) end
  if not modified({}, update, 2000) then fail("an operator may not: %s", key) end
end
for _, update in ipairs(NARROWER) do
  if not modified({}, update) then fail("may not make smaller: %s", tostring(next(update))) end
end
local function bounded(changes, fields)
  local bound = { gpus = 16, nodes = 2, tasks = 2, cpus = 32, cpus_per_task = 16, minutes = 60, array = 1, whole = 0, approved = 0, part = 0 }
  for key, value in pairs(changes) do bound[key] = value end
  local parts = {}
  for key, value in pairs(bound) do parts[#parts + 1] = key .. "=" .. value end
  local job = { comment = "", time_limit = 60, array_task_cnt = 1, admin_comment = "x nexa:v1:bound(" .. table.concat(parts, ",") .. ")" }
  for key, value in pairs(fields or {}) do job[key] = value end
  return job
end
if not modified({}, { cpus_per_task = 2 }) then fail("fewer CPUs of a task") end
local small = bounded({})
for update, allowed in pairs({
  [{ time_limit = 240 }] = true, [{ time_limit = 241 }] = false, [{ time_limit = 0 }] = false, [{ time_limit = 60 }] = true,
  [{ min_nodes = 4, max_nodes = 4, time_limit = 1 }] = false, [{ tres_per_job = "gpu:1" }] = false,
  [{ comment = "mine" }] = true, [{ comment = "nexa:v1:" .. parts }] = false, [{ qos = "high" }] = true, [{ requeue = 1 }] = true,
  [{ partition = "endless" }] = true, [{ partition = "whole" }] = false, [{ partition = "debug", time_limit = 2880 }] = true,
  [{ partition = "" }] = true, [{ partition = "endless", time_limit = 241 }] = false, [{ partition = "endless,whole" }] = false,
  [{ dependency = "afterok:1" }] = true, [{ name = "nexa:x", nice = 2147483648, begin_time = 5, priority = 0 }] = true,
  [{ req_nodes = "n1" }] = true, [{ req_nodes = "n[1-3]" }] = false, [{ exc_nodes = "n[1-3]" }] = true, [{ features = "a" }] = true,
}) do
  local key = next(update)
  if modified(small, update) ~= allowed then fail("%s=%s: not %s", key, tostring(update[key]), tostring(allowed)) end
end
if modified(bounded({ array = 5 }, { time_limit = 48 }), { time_limit = 49 }) then fail("an array grew") end
if not modified(bounded({ array = 5 }, { time_limit = 47 }), { time_limit = 48 }) then fail("an array within the limit") end
-- Task by task of an array the record says 1, the bound all.
if modified(bounded({ array = 5 }, { time_limit = 48, array_task_cnt = 0 }), { time_limit = 49 }) then fail("a task of an array grew") end
if modified(bounded({ gpus = 65 }, { partition = "debug" }), { partition = "gpu" }) then fail("left the exempt partition") end
if modified(bounded({ gpus = 65 }, { partition = "debug" }), { partition = "" }) then fail("left it for the default one") end
if not modified(bounded({ gpus = 65 }, { partition = "debug" }), { time_limit = 2000 }) then fail("time is free in an exempt partition") end
if modified(bounded({ gpus = 1 }, { partition = "debug" }), { tres_per_node = "gpu:9" }) then fail("GPUs grew in an exempt partition") end
local whole = bounded({ gpus = 8, nodes = 1, whole = 1 }, { tres_per_node = "" })
if modified(whole, { time_limit = 481 }) then fail("a whole node grew") end
if modified(whole, { min_cpus = 33 }) then fail("whole nodes by CPUs") end
if not modified(whole, { time_limit = 480, shared = 0 }) then fail("a whole node stays one") end
if modified(whole, { partition = "endless" }) then fail("whole nodes that the profile does not know") end
-- A part of a heterogeneous job may not grow: what the others use is not known.
if modified(bounded({ part = 1 }), { time_limit = 61 }) then fail("a part grew") end
if not modified(bounded({ part = 1 }), { time_limit = 60 }) then fail("a part, as long as before") end
-- Without GPUs, nor any that it could get.
local cpus = bounded({ gpus = 0, nodes = 1 }, { tres_per_node = "" })
for update, allowed in pairs({
  [{ min_cpus = 999, min_nodes = 4, max_nodes = 0, num_tasks = 99, time_limit = slurm.INFINITE, cpus_per_task = 64 }] = true,
  [{ min_mem_per_node = 0, ntasks_per_node = 8, sockets_per_node = 2, dependency = "expand:8" }] = true,
  [{ tres_per_node = "gpu:1" }] = false, [{ tres_per_task = "gres:gpu" }] = false, [{ tres_per_job = "gres:gpu:+1" }] = false,
  [{ tres_per_job = "gres:shard:1" }] = false, [{ tres_per_job = "gres:nic:1" }] = true, [{ tres_per_job = "gres:gpu:0" }] = true,
  [{ ntasks_per_tres = 1 }] = false, [{ shared = 0 }] = false, [{ partition = "whole" }] = false, [{ partition = "gpu,endless" }] = true,
}) do
  local key = next(update)
  if modified(cpus, update) ~= allowed then fail("CPUs alone: %s=%s: not %s", key, tostring(update[key]), tostring(allowed)) end
end
-- Before this script, or with a bound that can't be read: smaller, nothing else.
for _, comment in ipairs({ "", "nexa:v1:exclusive", "nexa:v1:bound", "nexa:v1:bound(gpus=1)", small.admin_comment .. small.admin_comment }) do
  local old = { comment = "", time_limit = 60, admin_comment = comment }
  for _, update in ipairs({ { time_limit = 61 }, { min_cpus = 33 }, { num_tasks = 2 }, { cpus_per_task = 2 }, { req_nodes = "all" }, { max_nodes = 3 },
    { tres_per_node = "gpu:9" }, { partition = "endless" }, { shared = 0 } }) do
    if modified(old, update) then fail("a job of before grew: %s", next(update)) end
  end
  for _, update in ipairs({ { time_limit = 59 }, { tres_per_node = "gpu:7" }, { min_nodes = 1, max_nodes = 2 }, { num_tasks = 1 }, { min_cpus = 1 },
    { name = "x" }, { dependency = "afterok:1" }, { comment = "mine" }, { nice = 5 } }) do
    if not modified(old, update) then fail("a job of before may not: %s", next(update)) end
  end
end
-- An administrator's comment does not take the bound away.
local asked = { admin_comment = "watched nexa:v1:bound(gpus=0)" }
slurm_job_modify(asked, { user_id = 1001, admin_comment = small.admin_comment }, PARTS, 0)
if asked.admin_comment ~= "watched " .. string.sub(small.admin_comment, 3) then fail("the bound is %s", asked.admin_comment) end

for update, gone in pairs({ [{ time_limit = 999 }] = true, [{ tres_per_node = "gpu:99" }] = true, [{ time_limit = 5 }] = false }) do
  slurm_job_modify(update, { user_id = 1001, time_limit = 60, admin_comment = small.admin_comment }, PARTS, 0)
  if (update.admin_comment ~= nil) ~= gone then fail("what root made larger: %s", tostring(update.admin_comment)) end
  if gone and modified(bounded({}, { admin_comment = update.admin_comment }), { time_limit = 61 }) then fail("root's is made larger still") end
end

-- No list makes it slow: slurmctld waits.
local long_lists = os.clock()
for _, field in ipairs({ "req_nodes", "tres_per_node", "array_inx", "partition", "comment", "dependency", "features" }) do
  for _, piece in ipairs({ "[", "]", ",", "gres:gpu", "[1-2]", "gpu:", " ", ":", "%", "1-", "[[[]" }) do
    submitted({ [field] = string.rep(piece, 100000 / #piece) })
  end
end
if os.clock() - long_lists > 10 then fail("long lists take %.0f s", os.clock() - long_lists) end

-- What lets through is a number, and never by accident ----------------------------------------------
if type(slurm_job_submit(request({}), PARTS, 1001)) ~= "number" then fail("not a number") end

-- Time ----------------------------------------------------------------------------------------------
local long = id()
token(long, { uses = "1000", script_sha256 = "x" })
local began = os.clock()
for _ = 1, 5 do submitted(big({ comment = "nexa:v1:" .. long, script = string.rep("x", 10240) })) end
local hashed = (os.clock() - began) / 5
began = os.clock()
for _ = 1, 1000 do submitted({ tres_per_job = "gres:gpu:1" }) end
print(string.format("ok %.1f ms with a script of 10 KB, %.3f ms without an approval", hashed * 1000, os.clock() - began))
os.exit(failures == 0 and 0 or 1)
