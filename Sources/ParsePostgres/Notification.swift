import JSON
import ParseCore

/// What one process tells the others, in the payload of a notification.
struct Notification: Sendable, Hashable {
    /// Where all processes of a database listen.
    static let channel = "martlet"
    /// PostgreSQL refuses payloads of 8,000 bytes.
    private static let payloadLimit = 7900

    var processID: String
    var applicationID: String
    /// The schema of the app has changed.
    var isSchemaChanged: Bool
    var notices: [ChangeNotice]

    /// `nil` for what is none.
    init?(payload: String) {
        guard let json = try? JSONValue.parse(payload), let process = json["p"]?.stringValue,
            let application = json["a"]?.stringValue
        else { return nil }
        processID = process
        applicationID = application
        isSchemaChanged = json["s"] == true
        // A notice of a later version may mean anything.
        notices = (json["n"]?.arrayValue ?? []).map { ChangeNotice(stored: $0) ?? .everything }
    }

    init(processID: String, applicationID: String, isSchemaChanged: Bool, notices: [ChangeNotice]) {
        self.processID = processID
        self.applicationID = applicationID
        self.isSchemaChanged = isSchemaChanged
        self.notices = notices
    }

    /// Nothing that another process would have to hear.
    var isEmpty: Bool { !isSchemaChanged && notices.isEmpty }

    /// The text, with fewer words when there are too many.
    var payload: String {
        let text = json(notices).serializedString()
        return text.utf8.count <= Self.payloadLimit ? text : json([.everything]).serializedString()
    }

    private func json(_ notices: [ChangeNotice]) -> JSONValue {
        [
            "p": .string(processID), "a": .string(applicationID), "s": .bool(isSchemaChanged),
            "n": .array(notices.map(\.stored)),
        ]
    }
}

extension ChangeNotice {
    fileprivate init?(stored json: JSONValue) {
        switch json {
        case "roles": self = .roles
        case "everything": self = .everything
        case .array(let parts) where parts.count == 2 && parts[0] == "user":
            guard let id = parts[1].stringValue else { return nil }
            self = .user(id)
        default: return nil
        }
    }

    fileprivate var stored: JSONValue {
        switch self {
        case .user(let id): ["user", .string(id)]
        case .roles: "roles"
        case .everything: "everything"
        }
    }
}
