-- nexa-slurm: what `nexa-slurm policy install` wrote for Slurm's job_submit/lua plugin; docs/policy.md.
-- Read it, place it beside slurm.conf as job_submit.lua, set JobSubmitPlugins=lua there. Lua 5.1 to 5.4.
--
-- A job that could use more GPU-hours than the policy lets through needs an approval: its comment is
-- nexa:v1:APPROVAL_ID, and the file APPROVED/APPROVAL_ID, which the admin wrote, covers what it asks for.
-- Everything here runs under slurmctld's locks: no programs, no network, two small files at most.

local POLICY = [=policy]
local GPU_HOURS_OVER = tonumber([=gpu_hours_over])
local APPROVED = [=approved_dir]
local EXEMPT_USERS = {<#list exempt_users as name> [ [=name] ] = true,</#list> }
local EXEMPT_PARTITIONS = {<#list exempt_partitions as name> [ [=name] ] = true,</#list> }
-- GPUs of a node, for jobs that get whole nodes; a partition that is missing here counts as unlimited.
local GPUS_PER_NODE = {<#list partitions as partition> [ [=partition.name] ] = tonumber([=partition.gpus]),</#list> }

local PREFIX = "nexa:v1:"
local EXCLUSIVE = "nexa:v1:exclusive"
local LONGEST_SCRIPT = 65536 -- bytes; hashing takes 3 ms a KB in Lua 5.1, and slurmctld waits
local UNLIMITED = math.huge

-- A verdict that is no number would let the job through.
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

-- How many tasks "0-9:3,12%2" are; unlimited where that can't be told.
local function array_tasks(indices)
  if text(indices) == "" then return 1 end
  local list = string.gsub(string.gsub(indices, "%%.*$", ""), "[%[%]%s]", "")
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

-- The GPUs of "gres:gpu:h100:2,gpu=1" by type, "" for any. A share of a GPU (shard, mps) counts as one.
local function gpus_in(list)
  local gpus = {}
  for item in string.gmatch(string.lower(text(list)), "[^,%s]+") do
    item = string.gsub(item, "^gres[:/]", "")
    local name = string.match(item, "^[^:=]*")
    local rest = string.sub(item, #name + 1)
    local kind, count = "", nil
    if name == "shard" or name == "mps" then
      count = string.match(rest, "[:=]0+$") and 0 or 1
    elseif name == "gpu" then
      count = rest == "" and 1 or tonumber(string.match(rest, "^[:=](%d+)$"))
      if not count then
        kind, count = string.match(rest, "^:([^:=]+)[:=](%d+)$")
        count = tonumber(count)
      end
      if not count and not string.match(rest, "^:%d+[kmgtp]$") then -- else 2k are 2048
        kind, count = string.match(rest, "^:([^:=]*[^%d:=][^:=]*)$"), 1
      end
      if not kind then kind, count = "", UNLIMITED end -- a form that is not known here
    end
    if count then gpus[kind] = (gpus[kind] or 0) + count end
  end
  return gpus
end

-- How many hosts "n[1-3,7],gpu1" are.
local function hosts_in(list)
  local count = 0
  local apart = string.gsub(text(list), "%[.-%]", function(group) return (string.gsub(group, ",", ";")) end)
  for name in string.gmatch(apart, "[^,%s]+") do
    local hosts = 1
    for group in string.gmatch(name, "%[(.-)%]") do
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

-- At most one node for each task, unless --nodes says how many; what it names by --nodelist it gets. The
-- partition's MaxNodes does not count: a QOS may lift it.
local function nodes_of(job, partition)
  local least = math.max(1, given(job.min_nodes) or 1, hosts_in(job.req_nodes))
  local most = given(job.max_nodes) or 0
  if most == 0 then most = given(job.num_tasks) or 1 end
  most = math.max(least, most)
  if partition then most = math.max(1, math.min(most, given(partition.total_nodes) or most)) end
  return most
end

-- As Slurm takes them where --ntasks is missing; unlimited where that depends on the hardware.
local function tasks_of(job, nodes)
  local tasks = given(job.num_tasks)
  if tasks then return math.max(tasks, nodes) end
  for _, field in ipairs({ "ntasks_per_socket", "ntasks_per_core", "ntasks_per_board" }) do
    if (given16(job[field]) or 0) > 0 then return UNLIMITED end
  end
  return times(math.max(1, given16(job.ntasks_per_node) or 1), nodes)
end

local function is_exclusive(job, partition)
  return given16(job.shared) == 0 or (partition ~= nil and partition.max_share == 0)
end

-- The GPUs of one array task by type, and whether they are its only because it gets whole nodes.
local function gpus_of(job, name, partition)
  local nodes = nodes_of(job, partition)
  local tasks = tasks_of(job, nodes)
  local sockets = given16(job.sockets_per_node) or 0
  local gpus = {}
  local function atLeast(list, factor)
    for kind, count in pairs(gpus_in(list)) do
      gpus[kind] = math.max(gpus[kind] or 0, times(count, factor))
    end
  end
  atLeast(job.tres_per_job, 1)
  atLeast(job.tres_per_node, nodes)
  atLeast(job.tres_per_task, tasks)
  atLeast(job.tres_per_socket, times(sockets > 0 and sockets or UNLIMITED, nodes))
  local sum = 0
  for _, count in pairs(gpus) do sum = sum + count end
  local each = given16(job.ntasks_per_tres)
  if sum == 0 and each and each > 0 then
    sum = math.ceil(tasks / each)
    gpus[""] = sum
  end
  local whole = is_exclusive(job, partition) and times(GPUS_PER_NODE[name] or UNLIMITED, nodes) or 0
  return math.max(sum, whole), gpus, whole > sum
end

local function minutes_of(job, partition)
  local minutes = given(job.time_limit)
  if not minutes and partition then
    minutes = given(partition.default_time) or given(partition.max_time)
  end
  if minutes == 0 then minutes = nil end -- sbatch(1): no limit
  return minutes or UNLIMITED
end

-- The partitions that a job could run in: those it names, or the default one.
local function partition_names(job, partitions)
  local names = {}
  for name in string.gmatch(text(job.partition), "[^,%s]+") do names[#names + 1] = name end
  if #names == 0 then
    for name, partition in pairs(partitions or {}) do
      if partition.flag_default == 1 then names[1] = name end
    end
  end
  return names
end

-- The most that a request could use, over all partitions it names.
local function most_of(job, partitions)
  local most = { hours = 0, gpus = 0, minutes = 0, nodes = 0, kinds = {}, exempt = true }
  most.tasks = array_tasks(job.array_inx)
  local names = partition_names(job, partitions)
  if #names == 0 then names[1] = "" end
  for _, name in ipairs(names) do
    local partition = partitions and partitions[name]
    local gpus, kinds, whole = gpus_of(job, name, partition)
    local minutes = minutes_of(job, partition)
    local hours = times(times(gpus, minutes / 60), most.tasks)
    most.exempt = most.exempt and EXEMPT_PARTITIONS[name] == true
    if hours >= most.hours then
      most.hours, most.gpus, most.minutes, most.kinds = hours, gpus, minutes, kinds
    end
    most.nodes = math.max(most.nodes, nodes_of(job, partition))
    most.whole = most.whole or whole
  end
  return most
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

local function memory_of(job, cpus, nodes)
  local each = job.min_mem_per_node
  if each ~= nil then return each == 0 and UNLIMITED or each * nodes end
  each = job.min_mem_per_cpu
  if each ~= nil then return each == 0 and UNLIMITED or each * cpus end
  return 0 -- the partition's default: the approved script left it out, too
end

-- Why a token does not cover a job, nil where it does.
local function not_covered(token, id, job, partitions, most)
  local function limit(key) return tonumber(token[key]) end
  local function over(what, asked, key)
    local most_allowed = limit(key)
    if most_allowed and asked <= most_allowed then return nil end
    return "it asks for " .. number(asked) .. " " .. what .. ", the approval covers " .. text(token[key])
  end
  if not limit("expires") or os.time() >= limit("expires") then return "the approval has expired" end
  if token.user ~= text(job.user_name) or limit("uid") ~= job.user_id then
    return "the approval is for the user " .. text(token.user)
  end
  if not same_name(job.account, job.default_account, token.account) then
    return "the approval is for the account '" .. text(token.account) .. "'"
  end
  local names = partition_names({}, partitions)
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
  local cpus = math.max(given(job.min_cpus) or 1, times(given(job.num_tasks) or 1, given16(job.cpus_per_task) or 1))
  local why = over("GPUs", most.gpus, "gpus")
    or over("nodes", most.nodes, "nodes")
    or over("minutes", most.minutes, "time_limit_minutes")
    or over("array tasks", most.tasks, "tasks")
    or over("CPUs", cpus, "cpus")
    or over("MiB of memory", memory_of(job, cpus, most.nodes), "memory_mib")
  if why then return why end
  if given(job.het_job_offset) then return "it is a part of a heterogeneous job" end
  if job.script == nil then return "it has no script, and the approval covers one script" end
  if (limit("attempts") or 1) < 2 and given16(job.requeue) ~= 0 then
    return "the approval covers one attempt: --no-requeue"
  end
  if #job.script > LONGEST_SCRIPT then return "its script has more than " .. LONGEST_SCRIPT .. " bytes" end
  local left = times(limit("uses") or 0, limit("tasks")) - tasks_used(id)
  if most.tasks > left then
    return "the approval is used up: it has " .. number(math.max(0, left)) .. " array tasks left"
  end
  if sha256("abc") ~= "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" then
    return "this Lua can't compute SHA-256" -- a wrong libm, say
  end
  if sha256(job.script) ~= token.script_sha256 then return "its script is not the approved one" end
  return nil
end

-- Verdicts ----------------------------------------------------------------------------------------

local function tell(line) slurm.log_user("%s", line) end

local function refuse_submit(most, why)
  if most then
    tell("nexa-slurm: this job could use " .. number(most.hours) .. " GPU-hours ("
      .. number(most.tasks) .. " tasks x " .. number(most.gpus) .. " GPUs x " .. number(most.minutes)
      .. " minutes); more than " .. number(GPU_HOURS_OVER) .. " need an approval")
  end
  if why then tell("nexa-slurm: " .. why) end
  tell("  ask for less (--time, --gpus, --array), or: nexa-slurm submit CONFIG.yaml, which says whom to ask")
  tell("  with an approval that the admin has installed: --comment=nexa:v1:APPROVAL_ID")
  return REFUSE
end

local function judge_submit(job, partitions, uid)
  if uid == 0 or EXEMPT_USERS[text(job.user_name)] then return PASS end
  local most = most_of(job, partitions)
  if most.exempt then return PASS end
  if most.hours <= GPU_HOURS_OVER then
    -- Slurm tells slurm_job_modify nothing of --exclusive.
    if most.whole and most.hours > 0 then
      local before = text(job.admin_comment)
      job.admin_comment = before == "" and EXCLUSIVE or before .. " " .. EXCLUSIVE
    end
    return PASS
  end
  if string.sub(text(job.comment), 1, #PREFIX) ~= PREFIX then return refuse_submit(most) end
  local id = approval_id(job.comment)
  if not id then return refuse_submit(most, "the comment is not nexa:v1: and the 16 digits of an approval's id") end
  local token = read_token(id)
  if not token then return refuse_submit(most, "the admin has not installed the approval " .. id) end
  local why = not_covered(token, id, job, partitions, most)
  if why then return refuse_submit(most, "approval " .. id .. ": " .. why) end
  local counted, failed = use(id, job, most.tasks)
  if not counted then
    slurm.log_error("%s", "nexa-slurm: can't count a use of " .. id .. ": " .. text(failed))
    return refuse_submit(most, "its use can't be counted; tell the admin: " .. APPROVED .. "/used must be SlurmUser's")
  end
  slurm.log_info("%s", "nexa-slurm: " .. number(most.hours) .. " GPU-hours of " .. text(job.user_name)
    .. " by approval " .. id .. ", " .. printable(job.name))
  return PASS
end

-- What an update would make larger, nil where nothing; `record` is the job as it is.
local function widens(update, record)
  local function more(field, before)
    local after = given(update[field])
    return after ~= nil and after > before
  end
  local function other(field)
    local after = string.lower(text(update[field]))
    return after ~= "" and after ~= string.lower(text(record[field]))
  end
  if more("time_limit", given(record.time_limit) or UNLIMITED) or update.time_limit == 0 then return "TimeLimit" end
  if (given(update.end_time) or 0) > 0 and more("end_time", given(record.end_time) or 0) then return "EndTime" end
  local nodes = math.max(1, given(record.min_nodes) or 1, given(record.max_nodes) or 0)
  if more("min_nodes", nodes) or more("max_nodes", nodes) then return "NumNodes" end
  if hosts_in(update.req_nodes) > nodes then return "NodeList" end
  local cpus = given(record.min_cpus) or 1
  local each = math.max(1, given(record.pn_min_cpus) or 1)
  if more("num_tasks", cpus / each) then return "NumTasks" end
  if more("min_cpus", cpus) then return "NumCPUs" end
  local perTask = given16(update.cpus_per_task)
  if perTask and perTask > each then return "CPUsPerTask" end
  if given16(update.ntasks_per_node) then return "TasksPerNode" end -- how many there were is not told
  for _, field in ipairs({ "tres_per_job", "tres_per_node", "tres_per_task", "tres_per_socket" }) do
    local before = gpus_in(record[field])
    for kind, count in pairs(gpus_in(update[field])) do
      if count > (before[kind] or 0) then return field end
    end
  end
  for _, field in ipairs({ "min_mem_per_node", "min_mem_per_cpu" }) do
    local after, before = update[field], record[field]
    if after ~= nil and (before == nil or after == 0 or after > before) and after ~= before then return "memory" end
  end
  if other("cpus_per_tres") then return "CpusPerTres" end
  if other("mem_per_tres") then return "MemPerTres" end
  local marked = string.find(text(record.admin_comment), EXCLUSIVE, 1, true)
  if given16(update.shared) == 0 and not marked then return "OverSubscribe" end
  if given16(update.requeue) == 1 then return "Requeue" end
  if other("partition") then return "Partition" end
  if other("qos") then return "QOS" end
  if other("account") then return "Account" end
  if update.comment ~= nil and update.comment ~= record.comment then return "Comment" end
  return nil
end

-- The request as it would be after the update.
local function updated(update, record)
  local function either(field)
    local after = update[field]
    if after == nil or after == "" or after == NO_VAL then return record[field] end
    return after
  end
  local marked = string.find(text(record.admin_comment), EXCLUSIVE, 1, true)
  local tasks = (given(record.min_cpus) or 1) / math.max(1, given(record.pn_min_cpus) or 1)
  local job = {
    num_tasks = given(update.num_tasks) or math.max(1, math.floor(tasks)),
    shared = marked and 0 or update.shared,
    sockets_per_node = update.sockets_per_node,
    req_nodes = update.req_nodes,
    array_inx = nil, -- an update's is the throttle
  }
  for _, field in ipairs({ "min_nodes", "max_nodes", "time_limit", "partition", "tres_per_job", "tres_per_node",
    "tres_per_task", "tres_per_socket" }) do
    job[field] = either(field)
  end
  return job
end

local function judge_modify(update, record, partitions, uid)
  -- Of others' jobs Slurm itself lets only operators and coordinators change anything.
  if uid == 0 or uid ~= record.user_id or EXEMPT_USERS[text(record.user_name)] then return PASS end
  local what = widens(update, record)
  if not what then return PASS end
  if string.sub(text(record.comment), 1, #PREFIX) ~= PREFIX then
    local most = most_of(updated(update, record), partitions)
    local tasks = math.max(1, given(record.array_task_cnt) or 1)
    if most.exempt or times(most.hours, tasks) <= GPU_HOURS_OVER then return PASS end
  end
  -- Before 23.02 the person does not see this, only the log.
  tell("nexa-slurm: job " .. number(record.job_id or 0) .. " could use more GPU-hours than was approved: " .. what
    .. " may only be made smaller. Cancel it and submit anew")
  return REFUSE
end

-- Slurm takes an error in here for "yes": so none gets out, and a job that names GPUs is refused.
local function asks_for_gpus(job)
  local all = text(job.tres_per_job) .. text(job.tres_per_node) .. text(job.tres_per_task) .. text(job.tres_per_socket)
  return all ~= "" or given16(job.ntasks_per_tres) ~= nil or given16(job.shared) == 0
end

local function failed(why, job, partitions)
  slurm.log_error("%s", "nexa-slurm: job_submit.lua failed (policy " .. POLICY .. "): " .. text(why))
  local known, most = pcall(most_of, job, partitions)
  if known and most.hours <= GPU_HOURS_OVER then return PASS end
  local readable, gpus = pcall(asks_for_gpus, job)
  if not known and readable and not gpus then return PASS end
  return REFUSE
end

function slurm_job_submit(job, partitions, uid)
  local fine, verdict = pcall(judge_submit, job, partitions, uid)
  if fine then return verdict end
  local judged, instead = pcall(failed, verdict, job, partitions)
  if judged and instead == PASS then return instead end
  pcall(tell, "nexa-slurm: whether this job needs an approval can't be told; tell the admin: slurmctld's log says why")
  return REFUSE
end

function slurm_job_modify(update, record, partitions, uid)
  local fine, verdict = pcall(judge_modify, update, record, partitions, uid)
  if fine then return verdict end
  local known, job = pcall(updated, update, record)
  local judged, instead = pcall(failed, verdict, known and job or record, partitions)
  return judged and instead or REFUSE
end

return PASS
