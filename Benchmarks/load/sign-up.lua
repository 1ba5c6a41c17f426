-- POST /users with a name that nobody has yet: ... -- PREFIX

-- Functions that wrk calls at the end must be there before init() runs.
dofile(debug.getinfo(1, "S").source:match("^@(.*)/") .. "/report.lua")

local number = 0

function init(arguments)
    prefix = arguments[1]
    wrk.headers["Content-Type"] = "application/json"
end

function request()
    number = number + 1
    local body = string.format('{"username":"%s%d","password":"correct horse battery staple"}', prefix, number)
    return wrk.format("POST", nil, nil, body)
end
