package import JSON

/// The answer to a save.
package struct SaveReply: Sendable {
    package var body: JSONObject
    /// The object that is new, or that the save turned out to be of; `nil` for an update.
    package var location: Location?
    /// Whether an object was made.
    package var isNew: Bool

    package init(body: JSONObject, location: Location? = nil, isNew: Bool = false) {
        self.body = body
        self.location = location
        self.isNew = isNew
    }

    /// Where an object is found, below the mount point.
    package struct Location: Sendable, Hashable {
        package var path: String

        package static func user(_ id: String) -> Location {
            Location(path: "/users/\(id)")
        }

        package static func object(_ className: String, _ id: String) -> Location {
            Location(path: "/classes/\(className)/\(id)")
        }

        package static func session(_ id: String) -> Location {
            Location(path: "/classes/_Session/\(id)")
        }
    }
}
