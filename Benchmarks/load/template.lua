-- Requests that differ in some places: ... -- NAME=VALUE ...
--
--   method=M path=P body=B   the request; its body is JSON and may be left out
--   ids=FILE count=N         ids of objects, 10 characters and a line feed each; the first N are used
--   first=N                  the id to begin with where each is to be used once
--   owners=FILE              ids that the objects point to
--   low=N high=N             bounds of the numbers
--   seed=N                   of what is chosen at random
--   without=TEXT             the run fails when a reply holds it, whatever its status
--
-- Path and body hold marks. Each is as long as what takes its place, so that all the rest, with its
-- Content-Length, is put together once:
--
--   <<object>>   an id at random
--   <<next..>>   the next id; the run fails when there is none left
--   <<owner.>>   an owner at random
--   <NUM6>       a number of six digits at random

-- Functions that wrk calls at the end must be there before init() runs.
dofile(debug.getinfo(1, "S").source:match("^@(.*)/") .. "/report.lua")

local width = 11
local parts, makers = {}, {}

local function options(words)
    local found = {}
    for _, word in ipairs(words) do
        local name, value = word:match("^(%l+)=(.*)$")
        found[assert(name, "not NAME=VALUE: " .. word)] = value
    end
    return found
end

local function contents(path)
    local file = assert(io.open(path, "rb"))
    local text = file:read("*a")
    file:close()
    return text
end

-- The id in a place of the file, counted from 0.
local function id(text, place)
    return text:sub(place * width + 1, place * width + width - 1)
end

local function random_id(path, count)
    local text = contents(path)
    count = tonumber(count) or #text / width
    assert(#text >= count * width, path .. " is shorter than said")
    return function() return id(text, math.random(0, count - 1)) end
end

local function next_id(path, first)
    local text, place = contents(path), assert(tonumber(first)) - 1
    return function()
        place = place + 1
        assert((place + 1) * width <= #text, "all ids are used up")
        return id(text, place)
    end
end

local function random_number(low, high)
    low, high = assert(tonumber(low)), assert(tonumber(high))
    assert(low >= 100000 and low <= high and high <= 999999, "the numbers have six digits")
    return function() return string.format("%d", math.random(low, high)) end
end

-- Only where it is wanted: with this function wrk hands each reply over, which costs time.
local function look_at_replies(text)
    function response(_, _, body)
        assert(not body:find(text, 1, true), body)
    end
end

function init(words)
    local option = options(words)
    math.randomseed(assert(tonumber(option.seed)))
    if option.without then look_at_replies(option.without) end
    if option.body then wrk.headers["Content-Type"] = "application/json" end
    local whole = wrk.format(option.method, option.path, nil, option.body)
    local kinds = {
        ["<<object>>"] = function() return random_id(option.ids, option.count) end,
        ["<<next..>>"] = function() return next_id(option.ids, option.first) end,
        ["<<owner.>>"] = function() return random_id(option.owners) end,
        ["<NUM6>"] = function() return random_number(option.low, option.high) end,
    }
    local made, from = {}, 1
    for start, mark, after in whole:gmatch("()(<<?[%a%d.]+>>?)()") do
        made[mark] = made[mark] or assert(kinds[mark], "unknown mark " .. mark)()
        parts[#parts + 1] = whole:sub(from, start - 1)
        parts[#parts + 1] = ""
        makers[#makers + 1] = made[mark]
        from = after
    end
    parts[#parts + 1] = whole:sub(from)
end

function request()
    for number = 1, #makers do parts[2 * number] = makers[number]() end
    return table.concat(parts)
end
