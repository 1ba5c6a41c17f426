import ParseWire

/// Decides which installation a save is of, when ids and tokens lead to several (Parse REST guide, "Push
/// Notifications").
struct InstallationMerge {
    /// What a save says of its device.
    struct Sent: Hashable {
        /// The id in the body.
        var bodyID: String?
        /// The id in the body, else the one that the request comes from.
        var installationID: String?
        var deviceToken: String?
        var deviceType: String?
        var appIdentifier: String?
    }

    enum Decision: Hashable {
        case create(CleanUp?)
        /// - Parameter installationID: What the row gets as its id when the body has none.
        case update(objectID: String, CleanUp?, installationID: String?)
    }

    /// Other installations that the save leaves no room for.
    struct CleanUp: Hashable {
        var rows: Predicate
        /// What clashes.
        var field: String
    }

    private let sent: Sent
    private let priority: InstallationOptions.Priority
    private let addressed: StoredRow?
    private let sameID: StoredRow?
    private let sameToken: [StoredRow]

    /// - Parameters:
    ///   - sent: What the save says.
    ///   - rows: All installations with that object id, installation id or device token.
    ///   - objectID: Of an update: the row that the address names.
    ///   - priority: Which of two rows stays.
    init(
        _ sent: Sent,
        among rows: [StoredRow],
        objectID: String? = nil,
        priority: InstallationOptions.Priority = .deviceToken
    ) {
        self.sent = sent
        self.priority = priority
        func has(_ row: StoredRow, _ field: String, _ text: String?) -> Bool {
            guard let text, let value = row.fields[field]?.stringValue else { return false }
            return value.utf8.elementsEqual(text.utf8)
        }
        addressed = objectID.flatMap { id in rows.first { $0.objectID.utf8.elementsEqual(id.utf8) } }
        // Whoever addresses a row means that row, wherever the request comes from.
        let id = objectID == nil ? sent.installationID : sent.bodyID
        sameID = rows.first { has($0, "installationId", id) }
        sameToken = rows.filter { has($0, "deviceToken", sent.deviceToken) }
    }

    /// - Throws: ``ParseError``: 135 for a new installation without a device type, 132 for a token of several without
    ///   an id to choose by.
    func decision() throws(ParseError) -> Decision {
        if let match = sameID ?? addressed { return update(match) }
        guard sent.deviceType != nil else {
            throw ParseError(
                .missingRequiredField,
                "deviceType must be specified in this operation"
            )
        }
        guard let first = sameToken.first else { return .create(nil) }
        if sameToken.count == 1, Self.id(first) == nil || sent.installationID == nil {
            return .update(objectID: first.objectID, nil, installationID: sent.installationID)
        }
        guard sameToken.count == 1 || sent.bodyID != nil else {
            throw ParseError(
                .missingInstallationID,
                "Must specify installationId when deviceToken matches multiple Installation objects"
            )
        }
        let others = Predicate.notEqual("installationId", .string(sent.installationID ?? ""))
        return .create(cleanUp(others))
    }

    private func update(_ match: StoredRow) -> Decision {
        let id = Self.id(match) ?? sent.installationID
        if sameToken.count == 1, let other = sameToken.first, other.objectID != match.objectID,
            Self.id(other) == nil, priority == .deviceToken
        {
            let old = CleanUp(rows: .id(match.objectID), field: "installationId")
            return .update(objectID: other.objectID, old, installationID: id)
        }
        let others = Predicate.notEqual("objectId", .string(match.objectID))
        let isNewToken = sent.deviceToken != match.fields["deviceToken"]?.stringValue
        let hasOthers = sameToken.contains { $0.objectID != match.objectID }
        return .update(
            objectID: match.objectID,
            isNewToken && hasOthers ? cleanUp(others) : nil,
            installationID: addressed == nil ? id : nil
        )
    }

    /// Rows of the same token, and of the same application if the save names one.
    private func cleanUp(_ others: Predicate) -> CleanUp? {
        guard let token = sent.deviceToken else { return nil }
        var parts: [Predicate] = [.equal("deviceToken", .string(token)), others]
        if let name = sent.appIdentifier { parts.append(.equal("appIdentifier", .string(name))) }
        return CleanUp(rows: .all(parts), field: "deviceToken")
    }

    private static func id(_ row: StoredRow) -> String? {
        row.fields["installationId"]?.stringValue
    }
}
