import JSON

/// One thing that was looked at, and what was found.
package struct SecurityCheck: Sendable, Hashable {
    package enum State: String, Sendable {
        case success, fail
        /// It could not be looked at.
        case none
    }

    package let title: String
    package let state: State
    /// What is wrong; told only of a check that failed.
    package let warning: String
    /// What would put it right.
    package let solution: String

    /// Not being safe is a failure; `nil`: it cannot be told.
    package init(_ title: String, isSafe: Bool?, warning: String, solution: String) {
        self.title = title
        state = isSafe.map { $0 ? .success : .fail } ?? .none
        self.warning = warning
        self.solution = solution
    }

    var json: JSONValue {
        var object: JSONObject = ["title": .string(title), "state": .string(state.rawValue)]
        if state == .fail {
            object.append("warning", .string(warning))
            object.append("solution", .string(solution))
        }
        return .object(object)
    }
}

/// Checks that belong together.
package struct SecurityCheckGroup: Sendable {
    package let name: String
    package let checks: [SecurityCheck]

    package init(_ name: String, _ checks: [SecurityCheck]) {
        self.name = name
        self.checks = checks
    }

    package var state: SecurityCheck.State {
        Self.state(checks.map(\.state))
    }

    /// One that fails outweighs all others.
    static func state(_ states: [SecurityCheck.State]) -> SecurityCheck.State {
        if states.contains(.fail) { return .fail }
        return states.contains(.success) ? .success : .none
    }

    var json: JSONValue {
        [
            "name": .string(name), "state": .string(state.rawValue),
            "checks": .array(checks.map(\.json)),
        ]
    }
}
