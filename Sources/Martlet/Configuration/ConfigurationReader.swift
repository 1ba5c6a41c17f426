import JSON
import ParseCore

/// Puts the options together: the file first, the environment over it, flags over both.
package struct ConfigurationReader {
    private var options = ServerOptions()
    /// Settings of single apps; read last, since they stand over those of every app, wherever these come from.
    private var apps: JSONValue?

    package init() {}

    /// The options, with those of single apps laid over those of every app.
    package func finished() throws(ConfigurationError) -> ServerOptions {
        guard let apps else { return options }
        var copy = self
        try copy.readApps(apps)
        return copy.options
    }

    /// Reads the text of a configuration file: a JSON object of options, with `apps` for single apps.
    ///
    /// - Throws: ``ConfigurationError`` that names the first option that is unknown, not built, or of a wrong
    ///   type.
    package mutating func read(file text: [UInt8], path: String) throws(ConfigurationError) {
        let root: JSONObject
        do {
            guard let object = try JSONValue.parse(text).objectValue else {
                throw ConfigurationError("The configuration file \(path) must hold a JSON object.")
            }
            root = object
        } catch let error as JSONError {
            throw ConfigurationError("The configuration file \(path) is no JSON: \(error.description)")
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError("The configuration file \(path) cannot be read.")
        }
        for member in root where member.key != "apps" {
            try set(member.key, OptionValue(name: member.key, json: member.value))
        }
        apps = root["apps"]
        _ = try finished()
    }

    /// Reads the variables of the environment that name options.
    ///
    /// - Throws: As ``read(file:path:)``; a variable that names no option is not ours and is left alone.
    package mutating func read(environment: [String: String]) throws(ConfigurationError) {
        for definition in OptionDefinition.all {
            guard let name = definition.environmentName, let text = environment[name], !text.isEmpty else {
                continue
            }
            try apply(definition, OptionValue(name: name, json: Self.json(text, definition.form)))
        }
    }

    /// Sets one option by its name in the configuration, as a flag does.
    package mutating func set(_ option: String, text: String, flag: String) throws(ConfigurationError) {
        guard let definition = OptionDefinition.byName[option] else {
            throw ConfigurationError("Unknown option \"\(option)\".")
        }
        try apply(definition, OptionValue(name: flag, json: Self.json(text, definition.form)))
    }

    private mutating func set(_ option: String, _ value: OptionValue) throws(ConfigurationError) {
        guard let definition = OptionDefinition.byName[option] else {
            throw ConfigurationError("Unknown option \"\(value.name)\" in the configuration file.")
        }
        try apply(definition, value)
    }

    private mutating func apply(
        _ definition: OptionDefinition,
        _ value: OptionValue
    ) throws(ConfigurationError) {
        try Self.rethrowing {
            switch definition.effect {
            case .app(let set): try set(&options.app, value)
            case .keys(let set): try set(&options.keys, value)
            case .server(let set): try set(&options, value)
            case .notBuilt:
                throw ConfigurationError("The option \"\(value.name)\" is known but not built yet.")
            }
        }
    }

    private mutating func readApps(_ json: JSONValue) throws(ConfigurationError) {
        guard let apps = json.objectValue else {
            throw ConfigurationError("The option \"apps\" must be an object with an entry for each app.")
        }
        var optionsByID: [String: AppOptions] = [:]
        var keysByID: [String: AppKeyOptions] = [:]
        for app in apps {
            guard let entries = app.value.objectValue else {
                throw ConfigurationError("The option \"apps.\(app.key)\" must be an object.")
            }
            var own = options.app
            var keys = AppKeyOptions()
            for entry in entries {
                let value = OptionValue(name: "apps.\(app.key).\(entry.key)", json: entry.value)
                guard let definition = OptionDefinition.byName[entry.key] else {
                    throw ConfigurationError("Unknown option \"\(value.name)\" in the configuration file.")
                }
                try Self.rethrowing {
                    switch definition.effect {
                    case .app(let set): try set(&own, value)
                    case .keys(let set): try set(&keys, value)
                    case .server:
                        throw ConfigurationError(
                            "The option \"\(value.name)\" holds for the whole server: set it at the top level."
                        )
                    case .notBuilt:
                        throw ConfigurationError("The option \"\(value.name)\" is known but not built yet.")
                    }
                }
            }
            optionsByID[app.key] = own
            keysByID[app.key] = keys
        }
        options.setApps(optionsByID, keysByID)
    }

    private static func rethrowing(_ body: () throws -> Void) throws(ConfigurationError) {
        do {
            try body()
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw ConfigurationError(String(describing: error))
        }
    }

    /// Text from the environment in the form the option has in a file.
    private static func json(_ text: String, _ form: OptionDefinition.Form) -> JSONValue {
        switch form {
        case .bool:
            return ["true": true, "1": true, "false": false, "0": false][text.lowercased()] ?? .string(text)
        case .number: return Double(text).map(JSONValue.number) ?? .string(text)
        case .text: return .string(text)
        case .list:
            return .array(text.split(separator: ",").map { .string(String($0.drop { $0 == " " })) })
        case .json: return (try? JSONValue.parse(text)) ?? .string(text)
        }
    }
}
