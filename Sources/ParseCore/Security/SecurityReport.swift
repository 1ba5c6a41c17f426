package import JSON
import ParseWire

/// A report on how safely the app is set up, for dashboards.
package struct SecurityReport: Sendable {
    /// The release of the report's form.
    private static let version = "1.0.0"

    /// What the master key of the request says of itself; `nil` where it is not at hand.
    package let masterKeyIsStrong: Bool?

    package init(masterKeyIsStrong: Bool?) {
        self.masterKeyIsStrong = masterKeyIsStrong
    }

    /// - Throws: ``ParseError``: 403 without the master key, 409 where the option is off.
    package func run(in context: RequestContext) throws(ParseError) -> JSONObject {
        try context.requireMaster()
        guard context.app.options.enableSecurityCheck else {
            throw ParseError(
                httpStatus: 409,
                "Enable Parse Server option `security.enableCheck` to run security check."
            )
        }
        let app = context.app
        let groups = [
            ConfigurationChecks.group(of: app, masterKeyIsStrong: masterKeyIsStrong),
            PermissionChecks.group(of: app.storage.schema),
        ]
        return [
            "report": [
                "version": .string(Self.version),
                "state": .string(SecurityCheckGroup.state(groups.map(\.state)).rawValue),
                "groups": .array(groups.map(\.json)),
            ]
        ]
    }
}
