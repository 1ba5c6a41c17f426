-- POST /login of a random user each time: ... -- COUNT PASSWORD SEED
-- The users are called user0 to user(COUNT - 1).

-- Functions that wrk calls at the end must be there before init() runs.
dofile(debug.getinfo(1, "S").source:match("^@(.*)/") .. "/report.lua")

function init(arguments)
    count = assert(tonumber(arguments[1]))
    password = arguments[2]
    math.randomseed(assert(tonumber(arguments[3])))
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    local name = string.format("user%d", math.random(0, count - 1))
    return wrk.format("POST", nil, nil, '{"username":"' .. name .. '","password":"' .. password .. '"}')
end
