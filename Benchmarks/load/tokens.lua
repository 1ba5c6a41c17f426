-- GET with a random session token each time: ... -- FILE COUNT SEED
-- FILE holds tokens of 34 characters, each followed by a line feed; the first COUNT are used.

-- Functions that wrk calls at the end must be there before init() runs.
dofile(debug.getinfo(1, "S").source:match("^@(.*)/") .. "/report.lua")

local width = 35

function init(arguments)
    local file = assert(io.open(arguments[1], "rb"))
    tokens = file:read("*a")
    file:close()
    count = assert(tonumber(arguments[2]))
    assert(#tokens >= count * width, "the token file is shorter than said")
    math.randomseed(assert(tonumber(arguments[3])))
    local marker = string.rep("?", width - 1)
    wrk.headers["X-Parse-Session-Token"] = marker
    local whole = wrk.format("GET")
    local from, to = whole:find(marker, 1, true)
    head, tail = whole:sub(1, from - 1), whole:sub(to + 1)
end

function request()
    local start = math.random(0, count - 1) * width
    return head .. tokens:sub(start + 1, start + width - 1) .. tail
end
