package import JSON
import ParseWire

/// Makes an installation, or changes the one of that device (Parse REST guide, "Push Notifications").
///
/// Of two requests with one installation id that come at the same moment one makes the row and the other changes it.
package struct CreateInstallation: Sendable {
    package let body: JSONObject

    package init(body: JSONObject) {
        self.body = body
    }

    /// - Throws: ``ParseError``: 135 where no id or no device type says which device it is, 132 for a token of several
    ///   installations, and what a save of any object throws.
    package func run(in context: RequestContext) async throws -> SaveReply {
        let access = ClassAccess(SystemClasses.installation, in: context)
        try access.requireReachable(for: .create)
        let header = context.principal.isUnrestricted ? nil : context.installationID
        let sent = InstallationBody(body, header: header)
        guard sent.ids.installationID != nil || sent.ids.deviceToken != nil else {
            throw ParseError(
                .missingRequiredField,
                "at least one ID field (deviceToken, installationId) must be specified in this operation"
            )
        }
        return try await InstallationSave.retrying([.duplicateValue, .objectNotFound], in: context) {
            let save = InstallationSave(access: access, context: context)
            let rows = try await save.rows(sent.ids, objectID: nil)
            let priority = context.app.options.installation.duplicateDeviceTokenMergePriority
            switch try InstallationMerge(sent.ids, among: rows, priority: priority).decision() {
            case .create(let cleanUp): return try await save.create(sent, cleanUp)
            case .update(let objectID, let cleanUp, let installationID):
                return try await save.update(objectID, sent, cleanUp, adopting: installationID)
            }
        }
    }
}

/// Changes an installation; where that makes it the same device as another, the two become one.
package struct UpdateInstallation: Sendable {
    package let objectID: String
    package let body: JSONObject

    package init(objectID: String, body: JSONObject) {
        self.objectID = objectID
        self.body = body
    }

    /// - Throws: ``ParseError``: 101 where there is no such installation, 136 for a change of what it is known by, and
    ///   what a save of any object throws.
    package func run(in context: RequestContext) async throws -> SaveReply {
        let access = ClassAccess(SystemClasses.installation, in: context)
        try access.requireReachable(for: .update)
        try ObjectID.checkUnchanged(body, objectID)
        let sent = InstallationBody(body, header: nil)
        let save = InstallationSave(access: access, context: context)
        if sent.isPlain { return try await save.update(objectID, sent, nil, adopting: nil) }
        return try await InstallationSave.retrying([.duplicateValue], in: context) {
            let rows = try await save.rows(sent.ids, objectID: objectID)
            guard let row = rows.first(where: { $0.objectID.utf8.elementsEqual(objectID.utf8) }) else {
                throw ParseError(.objectNotFound, "Object not found for update.")
            }
            try sent.checkChange(of: row)
            let priority = context.app.options.installation.duplicateDeviceTokenMergePriority
            let merge = InstallationMerge(sent.ids, among: rows, objectID: objectID, priority: priority)
            guard case .update(let target, let cleanUp, let installationID) = try merge.decision() else {
                throw ParseError.objectNotFound
            }
            return try await save.update(
                target,
                sent,
                cleanUp,
                adopting: installationID,
                giving: target == objectID ? nil : objectID
            )
        }
    }
}
