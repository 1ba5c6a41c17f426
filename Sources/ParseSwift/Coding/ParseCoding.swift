import Foundation

/// The coders every object uses.
enum ParseCoding {
    static func jsonEncoder() -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        encoder.dateEncodingStrategy = .custom { date, encoder in
            try DateBox(__type: "Date", iso: ParseDate.string(from: date)).encode(to: encoder)
        }
        return encoder
    }

    static func jsonDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .custom { decoder in
            let text: String
            if let box = try? DateBox(from: decoder) {
                text = box.iso
            } else {
                let container = try decoder.singleValueContainer()
                // A store that encoded with Foundation's default strategy holds seconds since 2001.
                if let seconds = try? container.decode(Double.self) {
                    return Date(timeIntervalSinceReferenceDate: seconds)
                }
                text = try container.decode(String.self)
            }
            guard let date = ParseDate.date(from: text) else {
                throw DecodingError.dataCorrupted(
                    .init(
                        codingPath: decoder.codingPath,
                        debugDescription: "\"\(text)\" is not a Parse date."
                    )
                )
            }
            return date
        }
        return decoder
    }

    /// Decodes an object of a server or of the store, leniently where the type allows it.
    ///
    /// - Throws: ``ParseError`` that names the class, the key and what was expected there.
    static func decode<Object: ParseObject>(_ type: Object.Type, from tree: JSONTree) throws -> Object {
        var tree = tree
        if type is any ParseUser.Type, case .object(var members) = tree, let authData = members["authData"] {
            members["authData"] = AuthDataView.strings(authData)
            tree = .object(members)
        }
        do {
            return try jsonDecoder().decode(type, from: tree.data)
        } catch let error as DecodingError {
            throw ParseError(
                code: .otherCause,
                message: "\(type.className) could not be decoded: \(explain(error))",
                swift: error
            )
        } catch {
            throw ParseError.wrapping(error)
        }
    }

    /// What a decoding error is about, in one sentence with its key path.
    static func explain(_ error: DecodingError) -> String {
        func path(_ context: DecodingError.Context, _ key: (any CodingKey)? = nil) -> String {
            let keys = context.codingPath + (key.map { [$0] } ?? [])
            guard !keys.isEmpty else { return "the value itself" }
            return "\""
                + keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".") + "\""
        }
        switch error {
        case .typeMismatch(let type, let context):
            return "\(path(context)) should be \(type), but the server sent something else."
        case .valueNotFound(let type, let context):
            return "\(path(context)) should be \(type), but the server sent null. Make the property optional."
        case .keyNotFound(let key, let context):
            return "\(path(context, key)) is missing in the answer. Make the property optional."
        case .dataCorrupted(let context):
            return "\(path(context)): \(context.debugDescription)"
        @unknown default:
            return String(describing: error)
        }
    }

    private struct DateBox: Codable {
        let __type: String
        let iso: String
    }
}

/// The view of `authData` that models declare: providers to dictionaries of strings.
///
/// Servers keep JSON there (multi-factor data has booleans and nested objects), so whatever is not a
/// string is shown as its JSON text instead of making the user undecodable.
enum AuthDataView {
    static func strings(_ authData: JSONTree) -> JSONTree {
        guard case .object(let providers) = authData else { return .null }
        return .object(
            providers.mapValues { provider in
                guard case .object(let members) = provider else { return .null }
                return .object(
                    members.mapValues { value in
                        if case .string = value { return value }
                        return .string(value.text)
                    }
                )
            }
        )
    }
}
