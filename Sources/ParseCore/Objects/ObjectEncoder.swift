import JSON
import Locking
import ParseWire

/// Writes rows of one class as a reply shows them, without making JSON values of them first.
///
/// Says the same as ``ObjectView``; made once for all rows of a reply, and kept for replies with all fields.
final class ObjectEncoder: Sendable {
    private struct Member: Sendable {
        let name: String
        /// The name as it stands in the text, with a comma before and a colon behind.
        let prefix: [UInt8]
        /// Of a relation: its value, which no row holds.
        let relation: [UInt8]?
    }

    private let members: [Member]

    init(_ schema: ClassSchema?, _ projection: Projection) {
        members = (schema?.fieldNames ?? []).compactMap { name in
            guard !Self.common.contains(name) else { return nil }
            var relation: [UInt8]?
            if case .relation(let target) = schema?.type(of: name) {
                guard !projection.excluded.contains(name) else { return nil }
                relation = (["__type": "Relation", "className": .string(target)] as JSONValue).serialized()
            } else if !projection.includes(name) {
                return nil
            }
            var writer = JSONWriter()
            writer.writeRaw(",")
            writer.writeString(name)
            writer.writeRaw(":")
            return Member(name: name, prefix: writer.bytes, relation: relation)
        }
    }

    private static let common = Set(SystemClasses.commonFields.map(\.0))

    /// - Parameters:
    ///   - row: One of the class.
    ///   - hidden: Fields that are left out.
    ///   - files: Gives files their addresses.
    ///   - writer: Gets the text.
    func write(
        _ row: StoredRow,
        hiding hidden: Set<String>,
        files: FileAddresses?,
        to writer: inout JSONWriter
    ) {
        writer.writeRaw("{\"objectId\":")
        writer.writeString(row.objectID)
        writer.writeRaw(",\"createdAt\":\"")
        row.createdAt.writeISO8601(to: &writer.bytes)
        writer.writeRaw("\",\"updatedAt\":\"")
        row.updatedAt.writeISO8601(to: &writer.bytes)
        writer.writeRaw("\"")
        for member in members where hidden.isEmpty || !hidden.contains(member.name) {
            if let value = row.fields[member.name] {
                writer.writeRaw(member.prefix)
                Self.write(value, files, to: &writer)
            } else if let relation = member.relation {
                writer.writeRaw(member.prefix)
                writer.writeRaw(relation)
            }
        }
        if let acl = row.acl {
            writer.writeRaw(",\"ACL\":")
            writer.write(acl.json)
        }
        writer.writeRaw("}")
    }

    private static func write(
        _ value: FieldValue,
        _ files: FileAddresses?,
        to writer: inout JSONWriter
    ) {
        switch value {
        case .string(let text): writer.writeString(text)
        case .number(let number): writer.writeNumber(number)
        case .bool(let flag): writer.writeRaw(flag ? "true" : "false")
        case .date(let instant):
            writer.writeRaw("{\"__type\":\"Date\",\"iso\":\"")
            instant.writeISO8601(to: &writer.bytes)
            writer.writeRaw("\"}")
        case .pointer(let className, let objectID):
            writer.writeRaw("{\"__type\":\"Pointer\",\"className\":")
            writer.writeString(className)
            writer.writeRaw(",\"objectId\":")
            writer.writeString(objectID)
            writer.writeRaw("}")
        default: writer.write(files?.json(of: value) ?? value.json)
        }
    }
}

/// The encoders of whole rows, by class, as of one schema.
final class ObjectEncoders: Sendable {
    private let state = Locked<(version: Int64, encoders: [String: ObjectEncoder])>((-1, [:]))

    func encoder(_ schema: ClassSchema?, _ projection: Projection, version: Int64) -> ObjectEncoder {
        guard projection.isEverything, let schema else { return ObjectEncoder(schema, projection) }
        return state.withLock { state in
            if state.version == version, let encoder = state.encoders[schema.className] { return encoder }
            if state.version != version { state = (version, [:]) }
            let encoder = ObjectEncoder(schema, projection)
            state.encoders[schema.className] = encoder
            return encoder
        }
    }
}
