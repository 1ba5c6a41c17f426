package import JSON

/// The parameters of an app as `GET /config` answers them (Parse REST guide, "Config").
package enum ConfigView {
    /// The reply.
    ///
    /// - Parameters:
    ///   - row: Where they are stored; `nil` while none was ever set.
    ///   - isMaster: Whether those are shown that are for the master key alone.
    ///   - file: How a file is answered, by its name.
    /// - Returns: `params`, and `masterKeyOnly` once there are any.
    package static func object(
        of row: StoredRow?,
        isMaster: Bool,
        file: (String) -> JSONValue = { FieldValue.file(name: $0).json }
    ) -> JSONObject {
        guard let row else { return ["params": [:]] }
        let flags = row.fields["masterKeyOnly"]?.objectValue ?? JSONObject()
        let hidden = isMaster ? [] : Set(flags.filter { $0.value.isTruthy }.map(\.key))
        let params = row.fields["params"]?.objectValue ?? JSONObject()
        let shown = params.filter { !hidden.contains($0.key) }.map { member in
            JSONObject.Member(key: member.key, value: answer(member.value, file))
        }
        return [
            "params": .object(JSONObject(shown)),
            "masterKeyOnly": .object(JSONObject(flags.filter { !hidden.contains($0.key) })),
        ]
    }

    private static func answer(_ value: JSONValue, _ file: (String) -> JSONValue) -> JSONValue {
        guard value["__type"] == "File", let name = value["name"]?.stringValue else { return value }
        return file(name)
    }
}
