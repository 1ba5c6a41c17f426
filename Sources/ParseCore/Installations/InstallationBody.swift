import JSON
import ParseWire

/// The body of a save of an installation, and what in it tells one device from another.
struct InstallationBody {
    /// With ids in the form in which they are stored.
    private(set) var fields: JSONObject
    let ids: InstallationMerge.Sent

    /// - Parameters:
    ///   - json: As it was sent.
    ///   - header: The id of the installation that the request comes from; a new installation without one of its own
    ///     is that one.
    init(_ json: JSONObject, header: String?) {
        var fields = json
        // No id at all: an empty one would be one that only one installation may have.
        for name in ["installationId", "deviceToken"] where fields[name] == "" { fields[name] = nil }
        let token = fields["deviceToken"]?.stringValue.map(Self.storedToken)
        if let token { fields["deviceToken"] = .string(token) }
        let bodyID = fields["installationId"]?.stringValue?.lowercased()
        let id = bodyID ?? header.flatMap { $0.isEmpty ? nil : $0.lowercased() }
        if let bodyID { fields["installationId"] = .string(bodyID) }
        self.fields = fields
        ids = InstallationMerge.Sent(
            bodyID: bodyID,
            installationID: id,
            deviceToken: token,
            deviceType: fields["deviceType"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 },
            appIdentifier: fields["appIdentifier"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
        )
    }

    /// A token of 64 characters is one of Apple's, written in hexadecimal digits.
    private static func storedToken(_ token: String) -> String {
        token.utf8.count == 64 ? token.lowercased() : token
    }

    /// Puts an id into it that was not sent.
    mutating func adopt(_ installationID: String?) {
        guard let installationID, fields["installationId"]?.stringValue == nil else { return }
        fields["installationId"] = .string(installationID)
    }

    /// Whether a change of this installation has nothing to do with any other.
    var isPlain: Bool {
        fields["deviceToken"]?.stringValue == nil && fields["installationId"] == nil
            && fields["deviceType"] == nil
    }

    /// - Throws: ``ParseError`` 136 for a change of what an installation is known by.
    func checkChange(of row: StoredRow) throws(ParseError) {
        let present = row.fields.compactMapValues(\.stringValue)
        if let id = present["installationId"], let sent = fields["installationId"],
            sent.stringValue?.utf8.elementsEqual(id.utf8) != true
        {
            throw Self.unchangeable("installationId")
        }
        if let token = present["deviceToken"], let sent = ids.deviceToken,
            !token.utf8.elementsEqual(sent.utf8), ids.bodyID == nil, present["installationId"] == nil
        {
            throw Self.unchangeable("deviceToken")
        }
        guard let sent = fields["deviceType"], sent.stringValue != present["deviceType"] else { return }
        throw Self.unchangeable("deviceType")
    }

    private static func unchangeable(_ field: String) -> ParseError {
        ParseError(.unchangeableField, "\(field) may not be changed in this operation")
    }
}
