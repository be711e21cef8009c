-- nexa-slurm: what `nexa-slurm policy install` wrote for Slurm's job_submit/lua plugin; docs/policy.md.
-- Read it, place it beside slurm.conf as job_submit.lua, set JobSubmitPlugins=lua there. Lua 5.1 to 5.4.
--
-- A job that could use more GPU-hours than the policy lets through needs an approval: its comment is
-- nexa:v1:APPROVAL_ID, and the file APPROVED/APPROVAL_ID, which the admin wrote, covers what it asks for.
-- At submit all fields of a job are known: the most that it can use is written into its admin_comment, which
-- users cannot set. A later update is judged by that.
-- Everything here runs under slurmctld's locks: no programs, no network, two small files at most.

local POLICY = [=policy]
local GPU_HOURS_OVER = tonumber([=gpu_hours_over])
local APPROVED = [=approved_dir]
-- Whether nothing is refused: what would be refused is only logged.
local OBSERVES = <#if observes>true<#else>false</#if>
local EXEMPT_USERS = {<#list exempt_users as name> [ [=name] ] = true,</#list> }
local EXEMPT_PARTITIONS = {<#list exempt_partitions as name> [ [=name] ] = true,</#list> }
-- GPUs of a node, for jobs that get whole nodes; a partition that is missing here counts as unlimited.
local GPUS_PER_NODE = {<#list partitions as partition> [ [=partition.name] ] = tonumber([=partition.gpus]),</#list> }

local PREFIX = "nexa:v1:"
local LONGEST_SCRIPT = 65536 -- bytes; hashing takes 3 ms a KB in Lua 5.1, and slurmctld waits
local UNLIMITED = math.huge

-- Slurm takes a verdict that is no number for "yes".
local PASS = 0
local REFUSE = slurm.ESLURM_ACCESS_DENIED or -1
local NO_VAL = slurm.NO_VAL or 4294967294
local NO_VAL16 = slurm.NO_VAL16 or 65534
local INFINITE = slurm.INFINITE or 4294967295

-- Values -----------------------------------------------------------------------------------------

-- A 32-bit field, nil where it was not given.
local function given(value)
  if value == nil or value == NO_VAL then return nil end
  if value == INFINITE then return UNLIMITED end
  return value
end

-- A 16-bit field, nil where it was not given.
local function given16(value)
  if value == nil or value == NO_VAL16 or value == 65535 then return nil end
  return value
end

-- A 32-bit field of which 0 means "no limit", nil where it was not given.
local function limit_given(value)
  if value == 0 then return UNLIMITED end
  return given(value)
end

local function times(a, b)
  if a == 0 or b == 0 then return 0 end -- none of unlimited is none
  return a * b
end

local function text(value)
  if value == nil then return "" end
  return tostring(value)
end

local function number(value)
  if value == UNLIMITED then return "unlimited" end
  if value == math.floor(value) then return string.format("%.0f", value) end
  return string.format("%.1f", value)
end

-- What is logged must not forge log lines.
local function printable(value)
  return (string.gsub(string.sub(text(value), 1, 64), "[^%w%p ]", "?"))
end

-- What a request could use ------------------------------------------------------------------------

local SUFFIXES = { [""] = 1, k = 2 ^ 10, kib = 2 ^ 10, kb = 1e3, m = 2 ^ 20, mib = 2 ^ 20, mb = 1e6, g = 2 ^ 30,
  gib = 2 ^ 30, gb = 1e9, t = 2 ^ 40, tib = 2 ^ 40, tb = 1e12, p = 2 ^ 50, pib = 2 ^ 50, pb = 1e15 }

-- A count as Slurm reads it (strtoull and suffix_mult): blanks, a sign, zeros, a suffix. Nil where Slurm finds no
-- number. What is negative, or too large to be exact, wraps around in Slurm to anything: unlimited.
local function count_of(value)
  local sign, digits, suffix = string.match(value, "^%s*([+-]?)(%d+)(.*)$")
  local factor = SUFFIXES[suffix]
  if not factor then return nil end
  local count = tonumber(digits) * factor
  if sign == "-" or count >= 2 ^ 53 then return UNLIMITED end
  return count
end

-- How many tasks "0-9:3,12%2" are; unlimited where that can't be told. As Slurm does, each item ends at its own %.
local function array_tasks(indices)
  if text(indices) == "" then return 1 end
  local list = string.gsub(string.gsub(indices, "%%[^,]*", ""), "[%[%]%s]", "")
  local count = 0
  for item in string.gmatch(list, "[^,]+") do
    local first, last, step = string.match(item, "^(%d+)%-(%d+):(%d+)$")
    if not first then first, last = string.match(item, "^(%d+)%-(%d+)$") end
    if not first then first = string.match(item, "^%d+$") end
    if not first then return UNLIMITED end
    first, last, step = tonumber(first), tonumber(last or first), tonumber(step or 1)
    if step == 0 or last < first then return UNLIMITED end
    count = count + math.floor((last - first) / step) + 1
  end
  return count == 0 and UNLIMITED or count
end

local function add(gpus, kind, count) gpus[kind] = (gpus[kind] or 0) + count end

-- The GPUs of "gres:gpu:h100:2,gpu=1" by type, "" for any. A share of a GPU (shard, mps) counts as one.
local function gpus_in(list)
  local gpus = {}
  if list == nil or list == "" then return gpus end
  for item in string.gmatch(string.lower(list), "[^,]+") do
    item = string.gsub(item, "^%s*", "")
    item = string.gsub(item, "^gres[:/]", "")
    local name, rest = string.match(item, "^([^:=]*)(.*)$")
    local bare = string.gsub(name, "%s", "")
    if string.find(item, "gres[:/]") or (bare ~= name and (bare == "gpu" or bare == "shard" or bare == "mps")) then
      add(gpus, "", UNLIMITED) -- Slurm looks for "gres:" anywhere
    elseif name == "shard" or name == "mps" then
      add(gpus, "", string.find(rest, "^[:=]0+$") and 0 or 1)
    elseif name == "gpu" then
      local kind, count = string.match(rest, "^[:=]([^:=]+)[:=](.+)$")
      if rest == "" then
        kind, count = "", 1
      elseif kind then
        count = count_of(count) or UNLIMITED
      elseif string.find(rest, "^[:=][^:=]+$") then
        kind, count = "", count_of(string.sub(rest, 2))
        if not count then kind, count = string.sub(rest, 2), 1 end -- a type
      else
        kind, count = "", UNLIMITED -- a form that is not known here
      end
      add(gpus, kind, count)
    end
  end
  return gpus
end

local function sum_of(gpus)
  local sum = 0
  for _, count in pairs(gpus) do sum = sum + count end
  return sum
end

local TRES = { "tres_per_job", "tres_per_node", "tres_per_task", "tres_per_socket" }

-- How many hosts "n[1-3,7],gpu1" are.
local function hosts_in(list)
  if list == nil or list == "" then return 0 end
  local count = 0
  local apart = string.gsub(list, "%[([^%[%]]*)%]", function(group)
    return "[" .. string.gsub(group, ",", ";") .. "]"
  end)
  for name in string.gmatch(apart, "[^,%s]+") do
    local hosts = 1
    for group in string.gmatch(name, "%[([^%[%]]*)%]") do
      local sum = 0
      for range in string.gmatch(group, "[^;]+") do
        local first, last = string.match(range, "^(%d+)%-(%d+)$")
        sum = sum + (first and math.max(1, tonumber(last) - tonumber(first) + 1) or 1)
      end
      hosts = hosts * sum
    end
    count = count + hosts
  end
  return count
end

-- How many nodes "[rack1*2&rack2*4]" counts.
local function nodes_in(features)
  local count = 0
  for each in string.gmatch(text(features), "%*%s*(%d+)") do count = count + tonumber(each) end
  return count
end

local function is_whole(job, partition)
  return given16(job.shared) == 0 or (partition ~= nil and partition.max_share == 0)
end

-- The most nodes. Where the job names no most, it is one for each task or GPU (as few as hold the GPUs where nodes are
-- whole), and pin() tells Slurm so. The partition's MaxNodes does not count: a QOS may lift it.
local function nodes_of(job, asked, name, partition)
  local least = math.max(1, given(job.min_nodes) or 1, hosts_in(job.req_nodes), nodes_in(job.features))
  local most = given(job.max_nodes) or 0
  if most == 0 then
    most = given(job.num_tasks) or 1
    local gpus = sum_of(asked.tres_per_job)
    if gpus > 0 then
      local each = is_whole(job, partition) and GPUS_PER_NODE[name] or 1
      most = math.max(most, math.ceil(gpus / math.max(1, each)))
    end
  end
  most = math.max(least, most)
  if partition then most = math.max(1, math.min(most, given(partition.total_nodes) or most)) end
  return most
end

-- As Slurm takes them where --ntasks is missing; unlimited where that depends on the hardware.
local function tasks_of(job, nodes)
  local tasks = given(job.num_tasks)
  if tasks then return math.max(tasks, nodes) end
  if (given16(job.ntasks_per_socket) or 0) > 0 or (given16(job.ntasks_per_core) or 0) > 0
    or (given16(job.ntasks_per_board) or 0) > 0 then
    return UNLIMITED
  end
  return times(math.max(1, given16(job.ntasks_per_node) or 1), nodes)
end

-- What makes Slurm give CPUs by the node's hardware: what our scripts never ask for, and how many is not told here.
local BY_HARDWARE = { sockets_per_node = "--sockets-per-node", cores_per_socket = "--cores-per-socket",
  threads_per_core = "--threads-per-core", boards_per_node = "boards", sockets_per_board = "boards",
  ntasks_per_core = "--ntasks-per-core", ntasks_per_socket = "--ntasks-per-socket", ntasks_per_board = "boards",
  ntasks_per_tres = "--ntasks-per-gpu" }

local function by_hardware(job)
  for field, option in pairs(BY_HARDWARE) do
    if (given16(job[field]) or 0) > 0 then return option end
  end
  return nil
end

local function cpus_each(job) return math.max(1, given16(job.cpus_per_task) or 1) end

-- The CPUs that one array task names, on so many nodes.
local function cpus_of(job, nodes, tasks)
  return math.max(given(job.min_cpus) or 1, given(job.max_cpus) or 0, times(tasks, cpus_each(job)),
    times(given16(job.pn_min_cpus) or 0, nodes))
end

-- The most GPUs of one array task in one partition, and those that it names by type.
local function gpus_of(job, asked, name, partition, nodes, tasks)
  local sockets = given16(job.sockets_per_node) or 0
  -- Slurm gives the GPUs of a task for as many tasks as the CPUs could hold (seen with --mincpus).
  local held = math.max(tasks, math.ceil(cpus_of(job, nodes, tasks) / cpus_each(job)))
  local factors = { tres_per_job = 1, tres_per_node = nodes, tres_per_task = held,
    tres_per_socket = times(sockets > 0 and sockets or UNLIMITED, nodes) }
  local gpus = {}
  for field, factor in pairs(factors) do
    for kind, count in pairs(asked[field]) do
      gpus[kind] = math.max(gpus[kind] or 0, times(count, factor))
    end
  end
  local sum = sum_of(gpus)
  -- Those of a socket Slurm gives for each socket of the node, however few were asked for (seen).
  if sum_of(asked.tres_per_socket) > 0 then sum = math.max(sum, times(GPUS_PER_NODE[name] or UNLIMITED, nodes)) end
  local each = given16(job.ntasks_per_tres) or 0
  if each > 0 then
    -- Slurm makes tasks of GPUs, and GPUs of those tasks.
    if sum_of(asked.tres_per_task) > 0 then sum = UNLIMITED end
    if sum == 0 then
      sum = math.max(nodes, math.ceil(tasks / each))
      gpus[""] = sum
    end
  end
  local whole = is_whole(job, partition) and times(GPUS_PER_NODE[name] or UNLIMITED, nodes) or 0
  return math.max(sum, whole), gpus
end

local function minutes_of(minutes, partition)
  if not minutes and partition then
    minutes = given(partition.default_time) or given(partition.max_time)
  end
  if minutes == 0 then minutes = nil end -- sbatch(1): no limit
  return minutes or UNLIMITED
end

-- The partitions that a job could run in: those it names, or the default one, and what stands in for them.
local function partition_names(list, partitions)
  local names = {}
  for name in string.gmatch(text(list), "[^,%s]+") do names[#names + 1] = name end
  if #names == 0 then
    for name, partition in pairs(partitions or {}) do
      if partition.flag_default == 1 then names[1] = name end
    end
  end
  if #names == 0 then names[1] = "" end
  for i = 1, #names do
    local partition = partitions and partitions[ names[i] ]
    local alternate = partition and text(partition.alternate) or ""
    if alternate ~= "" then names[#names + 1] = alternate end
  end
  return names
end

local function all_exempt(names)
  for _, name in ipairs(names) do
    if not EXEMPT_PARTITIONS[name] then return false end
  end
  return true
end

local function hours_of(gpus, minutes, tasks) return times(times(gpus, minutes), tasks) / 60 end

-- The most that a request could use, over all partitions it could run in. `hours` are those of the dearest
-- partition, and so are the GPUs and minutes that a person is told.
local function most_of(job, partitions)
  local most = { hours = 0, gpus = 0, minutes = 0, nodes = 0, tasks = 0, cpus = 0, kinds = {}, shape = 0 }
  local names = partition_names(job.partition, partitions)
  most.exempt = all_exempt(names)
  most.array = array_tasks(job.array_inx)
  local asked = {}
  for _, field in ipairs(TRES) do asked[field] = gpus_in(job[field]) end
  for _, name in ipairs(names) do
    local partition = partitions and partitions[name]
    local nodes = nodes_of(job, asked, name, partition)
    local tasks = tasks_of(job, nodes)
    local gpus, kinds = gpus_of(job, asked, name, partition, nodes, tasks)
    local minutes = minutes_of(given(job.time_limit), partition)
    local hours = hours_of(gpus, minutes, most.array)
    if hours >= most.hours then
      most.hours, most.gpus, most.minutes, most.kinds = hours, gpus, minutes, kinds
    end
    local each = given16(job.ntasks_per_tres) or 0
    if each > 0 then tasks = math.max(tasks, times(gpus, each)) end
    most.shape = math.max(most.shape, gpus)
    most.nodes = math.max(most.nodes, nodes)
    most.tasks = math.max(most.tasks, tasks)
    most.cpus = math.max(most.cpus, cpus_of(job, nodes, tasks))
  end
  return most
end

-- The bound of a job -------------------------------------------------------------------------------

-- What is kept of a job in its admin_comment, in this order. Slurm lets only administrators set that field, with
-- sbatch, scontrol and the C API, and a job's record does not tell the rest: tasks, CPUs of a task, whole nodes.
local BOUND = "nexa:v1:bound"
local KEYS = { "gpus", "nodes", "tasks", "cpus", "cpus_per_task", "minutes", "array", "whole", "approved", "part" }

local function write_bound(job, most, approved)
  local bound = { gpus = most.shape, nodes = most.nodes, tasks = most.tasks, cpus = most.cpus,
    cpus_per_task = cpus_each(job), minutes = most.minutes, array = most.array,
    whole = given16(job.shared) == 0 and 1 or 0, approved = approved and 1 or 0,
    part = given(job.het_job_offset) and 1 or 0 }
  local parts = {}
  for i, key in ipairs(KEYS) do parts[i] = key .. "=" .. number(bound[key]) end
  local before = string.gsub(text(job.admin_comment), "%s*" .. BOUND .. "%b()", "")
  job.admin_comment = (before == "" and "" or before .. " ") .. BOUND .. "(" .. table.concat(parts, ",") .. ")"
end

-- Nil where there is none, or more than one.
local function read_bound(comment)
  comment = text(comment)
  local found = string.match(comment, BOUND .. "(%b())")
  if not found or select(2, string.gsub(comment, BOUND, "")) ~= 1 then return nil end
  local bound = {}
  for key, value in string.gmatch(found, "([a-z_]+)=([a-z0-9]+)") do
    bound[key] = value == "unlimited" and UNLIMITED or tonumber(value)
  end
  for _, key in ipairs(KEYS) do
    if not bound[key] then return nil end
  end
  return bound
end

-- Of a job that was there before this script: what its record tells for sure. It may only be made smaller.
local function bound_of_record(record)
  return { gpus = UNLIMITED, nodes = math.max(1, given(record.min_nodes) or 1), tasks = 1,
    cpus = given(record.min_cpus) or 1, cpus_per_task = 1, minutes = 0, array = 1, whole = 0,
    approved = string.sub(text(record.comment), 1, #PREFIX) == PREFIX and 1 or 0, part = 1, unknown = true }
end

-- Holds Slurm to the nodes that were counted: else it may spread a job over as many as it has CPUs.
local function pin(job, most)
  if most.shape == 0 or (given(job.max_nodes) or 0) ~= 0 or most.nodes == UNLIMITED then return end
  job.max_nodes = math.max(most.nodes, given(job.min_nodes) or 1)
end

-- SHA-256 (FIPS 180-4) with numbers alone, because Lua 5.1 has no operators on bits -----------------

local AND_BYTES -- of two bytes, at a * 256 + b; made when it is first needed
local ROUND = {} -- the round constants: of the cube roots of the first 64 primes

local function make_tables()
  AND_BYTES = {}
  local nibbles = {}
  for a = 0, 15 do
    for b = 0, 15 do
      local sum, bit, x, y = 0, 1, a, b
      for _ = 1, 4 do
        if x % 2 + y % 2 == 2 then sum = sum + bit end
        x, y, bit = math.floor(x / 2), math.floor(y / 2), bit * 2
      end
      nibbles[a * 16 + b] = sum
    end
  end
  for a = 0, 255 do
    for b = 0, 255 do
      local high = nibbles[math.floor(a / 16) * 16 + math.floor(b / 16)]
      AND_BYTES[a * 256 + b] = high * 16 + nibbles[a % 16 * 16 + b % 16]
    end
  end
  local candidate = 2
  while #ROUND < 64 do
    local prime = true
    for divisor = 2, math.floor(math.sqrt(candidate)) do
      prime = prime and candidate % divisor ~= 0
    end
    if prime then ROUND[#ROUND + 1] = math.floor(candidate ^ (1 / 3) % 1 * 4294967296) end
    candidate = candidate + 1
  end
end

local function band(a, b)
  local a0, b0 = a % 256, b % 256
  local a1, b1 = a % 65536 - a0, b % 65536 - b0
  local a2, b2 = a % 16777216, b % 16777216
  local a3, b3 = (a - a2) / 65536, (b - b2) / 16777216
  a2, b2 = (a2 - a1 - a0) / 256, (b2 - b1 - b0) / 65536
  return AND_BYTES[a0 * 256 + b0]
    + AND_BYTES[a1 + b1 / 256] * 256
    + AND_BYTES[a2 + b2] * 65536
    + AND_BYTES[a3 + b3] * 16777216
end

-- Since 5.3 Lua has an operator; 5.1 can't even read it.
local operator = (loadstring or load)("return function(a, b) return a & b end")
if operator then band = operator() end

local function bxor(a, b) return a + b - 2 * band(a, b) end

-- To the right by n bits, given as 2^n.
local function rotate(x, power)
  local low = x % power
  return (x - low) / power + low * (4294967296 / power)
end

local function shift(x, power) return (x - x % power) / power end

local function sha256(message)
  if not AND_BYTES then make_tables() end
  local state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 }
  local length = ""
  local bits = #message * 8
  for _ = 1, 8 do
    length = string.char(bits % 256) .. length
    bits = math.floor(bits / 256)
  end
  message = message .. "\128" .. string.rep("\0", (55 - #message) % 64) .. length
  local w = {}
  for at = 1, #message, 64 do
    for i = 1, 16 do
      local a, b, c, d = string.byte(message, at + i * 4 - 4, at + i * 4 - 1)
      w[i] = ((a * 256 + b) * 256 + c) * 256 + d
    end
    for i = 17, 64 do
      local x, y = w[i - 15], w[i - 2]
      local s0 = bxor(bxor(rotate(x, 128), rotate(x, 262144)), shift(x, 8))
      local s1 = bxor(bxor(rotate(y, 131072), rotate(y, 524288)), shift(y, 1024))
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) % 4294967296
    end
    local a, b, c, d = state[1], state[2], state[3], state[4]
    local e, f, g, h = state[5], state[6], state[7], state[8]
    for i = 1, 64 do
      local s1 = bxor(bxor(rotate(e, 64), rotate(e, 2048)), rotate(e, 33554432))
      local choice = g + band(e, f) - band(e, g)
      local t1 = h + s1 + choice + ROUND[i] + w[i]
      local s0 = bxor(bxor(rotate(a, 4), rotate(a, 8192)), rotate(a, 4194304))
      local both = band(a, b)
      local majority = both + band(c, a + b - 2 * both)
      h, g, f, e, d, c, b = g, f, e, (d + t1) % 4294967296, c, b, a
      a = (t1 + s0 + majority) % 4294967296
    end
    local mixed = { a, b, c, d, e, f, g, h }
    for i = 1, 8 do state[i] = (state[i] + mixed[i]) % 4294967296 end
  end
  for i = 1, 8 do state[i] = string.format("%08x", state[i]) end
  return table.concat(state)
end

-- Approvals ---------------------------------------------------------------------------------------

-- The id in a comment that is exactly PREFIX and 16 hexadecimal digits: it names a file.
local function approval_id(comment)
  local id = string.match(text(comment), "^nexa:v1:([0-9a-f]+)$")
  if id and #id == 16 then return id end
  return nil
end

-- The lines key=value of a file, nil where it can't be read.
local function read_token(id)
  local file = io.open(APPROVED .. "/" .. id, "r")
  if not file then return nil end
  local lines = file:read(8192)
  file:close()
  local token = {}
  for key, value in string.gmatch(text(lines), "([a-z0-9_]+)=([^\n]*)\n") do token[key] = value end
  return token
end

-- The array tasks that an approval has let through so far.
local function tasks_used(id)
  local file = io.open(APPROVED .. "/used/" .. id, "r")
  if not file then return 0 end
  local sum = 0
  for line in file:lines() do
    sum = sum + (tonumber(string.match(line, "^(%d+) ")) or UNLIMITED)
  end
  file:close()
  return sum
end

-- Counts a use. slurmctld calls this plugin one job at a time, so nothing comes between count and use.
local function use(id, job, tasks)
  local file, why = io.open(APPROVED .. "/used/" .. id, "a")
  if not file then return false, why end
  local name = string.gsub(printable(job.name), "%s", "_")
  local line = string.format("%d %d %d %s\n", tasks, os.time(), job.user_id, name)
  local written, failed = file:write(line)
  if written then written, failed = file:flush() end
  file:close()
  return written ~= nil and written ~= false, failed
end

-- Whether an asked name is the covered one, or the cluster's default where none was covered.
local function same_name(asked, default, covered)
  asked, default, covered = string.lower(text(asked)), string.lower(text(default)), string.lower(text(covered))
  if asked == "" then asked = default end
  if covered == "" then covered = default end
  return asked == covered
end

-- 0 is all of a node; so may the cluster's default be, for a job that names none. Our scripts name it.
local function memory_of(job, nodes)
  local each = job.min_mem_per_node
  if each == nil or each == 0 then return UNLIMITED end
  return each * nodes
end

-- Why a token does not cover a job, nil where it does.
local function not_covered(token, id, job, partitions, most)
  local function limit(key) return tonumber(token[key]) end
  local function over(what, asked, key)
    local most_allowed = limit(key)
    if most_allowed and asked <= most_allowed then return nil end
    return "it asks for " .. number(asked) .. " " .. what .. ", the approval covers " .. text(token[key])
  end
  if job.script == nil then return "it has no script, and the approval covers one script" end
  if not limit("expires") or os.time() >= limit("expires") then return "the approval has expired" end
  if token.user ~= text(job.user_name) or limit("uid") ~= job.user_id then
    return "the approval is for the user " .. text(token.user)
  end
  if not same_name(job.account, job.default_account, token.account) then
    return "the approval is for the account '" .. text(token.account) .. "'"
  end
  local names = partition_names("", partitions)
  local partition = text(job.partition) ~= "" and job.partition or text(names[1])
  if partition ~= (text(token.partition) ~= "" and token.partition or text(names[1])) then
    return "the approval is for the partition '" .. text(token.partition) .. "'"
  end
  if not same_name(job.qos, job.default_qos, token.qos) then
    return "the approval is for the QOS '" .. text(token.qos) .. "'"
  end
  for kind in pairs(most.kinds) do
    if text(token.gpu_type) ~= "" and kind ~= "" and kind ~= string.lower(token.gpu_type) then
      return "it asks for " .. kind .. ", the approval covers " .. token.gpu_type
    end
  end
  if text(job.cpus_per_tres) .. text(job.mem_per_tres) ~= "" then
    return "it asks for CPUs or memory by the GPU"
  end
  local onNodes = times(cpus_each(job) * math.max(1, given16(job.ntasks_per_node) or 1), most.nodes)
  -- Slurm rounds CPUs up to cores, and to nodes where they are exclusive, and memory with them.
  if job.min_mem_per_cpu ~= nil then return "it asks for memory by the CPU, the approval covers --mem" end
  local hardware = by_hardware(job)
  if hardware then return "it asks for CPUs by the hardware (" .. hardware .. ")" end
  local why = over("GPUs", most.gpus, "gpus")
    or over("nodes", most.nodes, "nodes")
    or over("minutes", most.minutes, "time_limit_minutes")
    or over("array tasks", most.array, "tasks")
    or over("CPUs", math.max(most.cpus, onNodes), "cpus")
    or over("MiB of memory", memory_of(job, most.nodes), "memory_mib")
  if why then return why end
  local shared = given16(job.shared) -- 0 is --exclusive, 1 --oversubscribe, above that whole nodes of a user and more
  if shared and shared ~= 1 and not (shared == 0 and limit("exclusive") == 1) then
    return "it asks for whole nodes (--exclusive), the approval does not cover them"
  end
  if given(job.het_job_offset) then return "it is a part of a heterogeneous job" end
  if (limit("attempts") or 1) < 2 and given16(job.requeue) ~= 0 then
    return "the approval covers one attempt: --no-requeue"
  end
  if #job.script > LONGEST_SCRIPT then return "its script has more than " .. LONGEST_SCRIPT .. " bytes" end
  local left = times(limit("uses") or 0, limit("tasks")) - tasks_used(id)
  if most.array > left then
    return "the approval is used up: it has " .. number(math.max(0, left)) .. " array tasks left"
  end
  if sha256("abc") ~= "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" then
    return "this Lua can't compute SHA-256" -- a wrong libm, say
  end
  if sha256(job.script) ~= token.script_sha256 then return "its script is not the approved one" end
  return nil
end

-- Verdicts ----------------------------------------------------------------------------------------

-- What is wrong with the job that is judged now, for the log.
local REASONS = {}

local function tell(line)
  if OBSERVES then
    REASONS[#REASONS + 1] = string.gsub(line, "^nexa%-slurm: ", "")
  else
    slurm.log_user("%s", line)
  end
end

local function refuse_submit(most, why)
  if most then
    tell("nexa-slurm: this job could use " .. number(most.hours) .. " GPU-hours ("
      .. number(most.array) .. " tasks x " .. number(most.gpus) .. " GPUs x " .. number(most.minutes)
      .. " minutes); more than " .. number(GPU_HOURS_OVER) .. " need an approval")
  end
  if why then tell("nexa-slurm: " .. why) end
  if OBSERVES then return REFUSE end
  tell("  ask for less (--time, --gpus, --array), or: nexa-slurm submit CONFIG.yaml, which says whom to ask")
  tell("  with an approval that the admin has installed: --comment=nexa:v1:APPROVAL_ID")
  return REFUSE
end

-- The GPU-hours of the parts of a heterogeneous job up to each offset, by user: slurmctld asks for one part after
-- the other, and may ask for another job's parts between them. So the most that came within seconds counts.
local PARTS = {}
local PARTS_SECONDS = 2

local function hours_with_parts_before(job, hours)
  local offset = given(job.het_job_offset)
  if not offset then return hours end
  local sums = PARTS[job.user_id]
  if not sums then
    sums = {}
    PARTS[job.user_id] = sums
  end
  local now = os.time()
  for at, sum in pairs(sums) do
    if math.abs(now - sum.at) > PARTS_SECONDS then sums[at] = nil end
  end
  if offset > 0 then hours = hours + (sums[offset - 1] and sums[offset - 1].hours or UNLIMITED) end
  if hours > GPU_HOURS_OVER then return hours end
  sums[offset] = { at = now, hours = math.max(hours, sums[offset] and sums[offset].hours or 0) }
  return hours
end

local function may_expand(dependency)
  return string.find(string.lower(text(dependency)), "expand", 1, true) ~= nil
end

local function judge_submit(job, partitions, uid)
  if uid == 0 or EXEMPT_USERS[text(job.user_name)] then return PASS end
  local most = most_of(job, partitions)
  if not OBSERVES then pin(job, most) end
  if most.shape > 0 and may_expand(job.dependency) then
    tell("nexa-slurm: a job that can get GPUs may not expand another job: submit one job that asks for all it needs")
    return REFUSE
  end
  local hours = most.exempt and 0 or most.hours
  local together = hours_with_parts_before(job, hours)
  if together <= GPU_HOURS_OVER then
    write_bound(job, most, false)
    return PASS
  end
  if hours <= GPU_HOURS_OVER then
    return refuse_submit(most, "with the other parts of this heterogeneous job, and what you submitted within the last "
      .. PARTS_SECONDS .. " seconds, that is " .. number(together) .. " GPU-hours")
  end
  if string.sub(text(job.comment), 1, #PREFIX) ~= PREFIX then return refuse_submit(most) end
  local id = approval_id(job.comment)
  if not id then return refuse_submit(most, "the comment is not nexa:v1: and the 16 digits of an approval's id") end
  local token = read_token(id)
  if not token then return refuse_submit(most, "the admin has not installed the approval " .. id) end
  local why = not_covered(token, id, job, partitions, most)
  if why then return refuse_submit(most, "approval " .. id .. ": " .. why) end
  -- A later attempt may be approved to take longer.
  most.minutes = math.max(most.minutes, tonumber(token.time_limit_minutes) or 0)
  write_bound(job, most, true)
  local counted, failed = use(id, job, most.array)
  if not counted then
    slurm.log_error("%s", "nexa-slurm: can't count a use of " .. id .. ": " .. text(failed))
    return refuse_submit(most, "its use can't be counted; tell the admin: " .. APPROVED .. "/used must be SlurmUser's")
  end
  slurm.log_info("%s", "nexa-slurm: " .. number(most.hours) .. " GPU-hours of " .. text(job.user_name)
    .. " by approval " .. id .. ", " .. printable(job.name))
  return PASS
end

-- Whether an update names something else than the record has; "" is the default one, or none.
local function other(update, record, field)
  local after = update[field]
  return after ~= nil and string.lower(after) ~= string.lower(text(record[field]))
end

-- What an update asks for beyond the bound of a job that can get GPUs, nil where nothing.
local function enlarges(update, record, bound)
  if (limit_given(update.min_nodes) or 0) > bound.nodes or (limit_given(update.max_nodes) or 0) > bound.nodes then
    return "NumNodes"
  end
  if hosts_in(update.req_nodes) > (bound.unknown and 0 or bound.nodes) then return "NodeList" end
  if (given(update.num_tasks) or 0) > bound.tasks then return "NumTasks" end
  if (given(update.min_cpus) or 0) > bound.cpus or (given(update.max_cpus) or 0) > bound.cpus then return "NumCPUs" end
  -- What the job's tasks are held by is not loosened either.
  local onNode = given16(update.pn_min_cpus) or 0
  if onNode ~= 0 and onNode ~= math.max(1, given16(record.pn_min_cpus) or 1) then return "MinCPUsNode" end
  local each = given16(update.cpus_per_task)
  if each and (each > bound.cpus_per_task or (each < bound.cpus_per_task and text(record.tres_per_task) ~= "")) then
    return "CPUsPerTask" -- of fewer CPUs there could be more tasks, with their GPUs
  end
  local hardware = by_hardware(update)
  if hardware then return hardware end
  if given16(update.ntasks_per_node) then return "TasksPerNode" end
  -- 0 is all memory of a node; so much for each CPU may be more than so much for a node, not the other way round.
  local onNodes, onCpus = update.min_mem_per_node, update.min_mem_per_cpu
  if onNodes ~= nil and onNodes ~= record.min_mem_per_node
    and (onNodes == 0 or onNodes > (record.min_mem_per_node or record.min_mem_per_cpu or 0)) then
    return "memory"
  end
  if onCpus ~= nil and onCpus ~= record.min_mem_per_cpu and (onCpus == 0 or onCpus > (record.min_mem_per_cpu or 0)) then
    return "memory"
  end
  if other(update, record, "cpus_per_tres") then return "CpusPerTres" end
  if other(update, record, "mem_per_tres") then return "MemPerTres" end
  if may_expand(update.dependency) then return "Dependency" end
  return nil
end

-- What an update would change beyond what was let through, nil where nothing; `record` is the job as it is.
local function widens(update, record, bound, partitions)
  for _, field in ipairs(TRES) do
    local before = gpus_in(record[field])
    for kind, count in pairs(gpus_in(update[field])) do
      if count > (before[kind] or 0) then return field end
    end
  end
  if (given16(update.ntasks_per_tres) or 0) > 0 then return "--ntasks-per-gpu" end
  local shared = given16(update.shared)
  if shared and shared ~= 1 and not (shared == 0 and bound.whole == 1) then return "OverSubscribe" end
  if bound.gpus > 0 then
    local what = enlarges(update, record, bound)
    if what then return what end
  end
  local comment = update.comment
  if comment ~= nil and comment ~= record.comment
    and (bound.approved == 1 or string.sub(comment, 1, 5) == string.sub(PREFIX, 1, 5)) then
    return "Comment"
  end
  if bound.approved == 1 then
    if given16(update.requeue) == 1 then return "Requeue" end
    if other(update, record, "qos") then return "QOS" end
    if other(update, record, "account") then return "Account" end
  end
  local fixed = bound.approved == 1 or bound.part == 1
  local moves = other(update, record, "partition")
  local names = partition_names(moves and update.partition or record.partition, partitions)
  local before, after = limit_given(record.time_limit), limit_given(update.time_limit)
  local exempt = all_exempt(names)
  if moves then
    if fixed then return "Partition" end
    for _, name in ipairs(names) do
      local partition = partitions and partitions[name]
      local whole = bound.whole == 1 or is_whole({}, partition)
      if whole and times(GPUS_PER_NODE[name] or UNLIMITED, bound.nodes) > bound.gpus then return "Partition" end
      local hours = hours_of(bound.gpus, minutes_of(after or before, partition), bound.array)
      if not exempt and hours > GPU_HOURS_OVER then return "Partition" end
    end
  end
  if after and not (before and after <= before) and not exempt then
    if fixed and after > bound.minutes then return "TimeLimit" end
    if bound.approved == 0 and hours_of(bound.gpus, after, bound.array) > GPU_HOURS_OVER then return "TimeLimit" end
  end
  if (given(update.end_time) or 0) > math.max(0, given(record.end_time) or 0) then return "EndTime" end
  return nil
end

-- An administrator's comment keeps the bound. What root makes larger has none any more: its user may only make it smaller.
local function keep_bound(update, record, bound, partitions, uid)
  local enlarged = uid == 0 and widens(update, record, bound, partitions) ~= nil
  if update.admin_comment == nil and not enlarged then return end
  local kept = string.gsub(text(update.admin_comment or record.admin_comment), "%s*" .. BOUND .. "%b()", "")
  local mark = enlarged and BOUND .. " enlarged by root" or string.match(record.admin_comment, BOUND .. "%b()")
  update.admin_comment = (kept == "" and "" or kept .. " ") .. mark
end

local function judge_modify(update, record, partitions, uid)
  local bound = read_bound(record.admin_comment)
  if bound and (uid == 0 or update.admin_comment ~= nil) then keep_bound(update, record, bound, partitions, uid) end
  -- Of others' jobs Slurm itself lets only operators and coordinators change anything.
  if uid == 0 or uid ~= record.user_id or EXEMPT_USERS[text(record.user_name)] then return PASS end
  local what = widens(update, record, bound or bound_of_record(record), partitions)
  if not what then return PASS end
  -- Before 23.02 the person does not see this, only the log.
  tell("nexa-slurm: job " .. number(record.job_id or 0) .. " could use more than was let through: " .. what
    .. " may only be made smaller. Cancel it and submit anew")
  return REFUSE
end

local function log_observed(job)
  local why = string.gsub(table.concat(REASONS, "; "), "[^%w%p ]", "?")
  slurm.log_info("%s", "nexa-slurm would refuse: user " .. printable(job.user_name or job.user_id) .. ", job "
    .. printable(job.name) .. ": " .. why)
end

-- Slurm takes an error in here for "yes": so none gets out, and each refuses.
local function judged(judge, described, ...)
  REASONS = {}
  local fine, verdict = pcall(judge, ...)
  if fine and verdict == PASS then return PASS end
  if not fine then
    pcall(slurm.log_error, "%s", "nexa-slurm: job_submit.lua failed (policy " .. POLICY .. "): " .. printable(verdict))
    pcall(tell, "nexa-slurm: whether this job needs an approval can't be told; tell the admin: slurmctld's log says why")
  end
  if OBSERVES then
    pcall(log_observed, described)
    return PASS
  end
  return REFUSE
end

function slurm_job_submit(job, partitions, uid) return judged(judge_submit, job, job, partitions, uid) end

function slurm_job_modify(update, record, partitions, uid) return judged(judge_modify, record, update, record, partitions, uid) end

return PASS
