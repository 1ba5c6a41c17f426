/// What happens when one device token is in two installations (the option `installation`).
package struct InstallationOptions: Sendable, Hashable {
    package enum Action: String, Sendable, CaseIterable {
        /// The other installation is deleted.
        case delete
        /// The other installation stays and loses what clashes.
        case update
    }

    package enum Priority: String, Sendable, CaseIterable {
        case deviceToken, installationId
    }

    package var duplicateDeviceTokenAction = Action.delete
    /// Which of two installations stays when one has the id that was sent and the other nothing but the token.
    package var duplicateDeviceTokenMergePriority = Priority.deviceToken
    /// Whether the other installation is only touched when the caller may write it.
    package var duplicateDeviceTokenActionEnforceAuth = false

    package init() {}
}
