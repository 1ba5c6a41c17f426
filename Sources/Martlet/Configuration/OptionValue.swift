import JSON
import ParseCore

/// The value of an option, with its name for what is to be said about it.
struct OptionValue {
    /// As the user wrote it: `sessionLength`, `apps.myApp.sessionLength`, `PARSE_SERVER_SESSION_LENGTH`.
    let name: String
    let json: JSONValue

    func error(_ rule: String) -> ConfigurationError {
        ConfigurationError("The option \"\(name)\" must be \(rule).")
    }

    func bool() throws(ConfigurationError) -> Bool {
        guard let flag = json.boolValue else { throw error("true or false") }
        return flag
    }

    func number(in range: ClosedRange<Double>) throws(ConfigurationError) -> Double {
        guard let number = json.numberValue, range.contains(number) else {
            throw error("a number from \(Self.text(range.lowerBound)) to \(Self.text(range.upperBound))")
        }
        return number
    }

    func integer(in range: ClosedRange<Int>) throws(ConfigurationError) -> Int {
        guard let number = json.numberValue, let integer = Int(exactly: number), range.contains(integer)
        else {
            throw error("a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    func string() throws(ConfigurationError) -> String {
        guard let text = json.stringValue else { throw error("a text") }
        return text
    }

    /// Text that is not empty.
    func nonEmptyString() throws(ConfigurationError) -> String {
        guard let text = json.stringValue, !text.isEmpty else { throw error("a text that is not empty") }
        return text
    }

    /// A list of texts; one text alone is a list of one.
    func strings() throws(ConfigurationError) -> [String] {
        if let text = json.stringValue { return [text] }
        guard let elements = json.arrayValue else { throw error("a list of texts") }
        var texts: [String] = []
        for element in elements {
            guard let text = element.stringValue else { throw error("a list of texts") }
            texts.append(text)
        }
        return texts
    }

    func addresses() throws(ConfigurationError) -> IPAllowList {
        do {
            return try IPAllowList(try strings())
        } catch let error as IPAllowList.InvalidEntry {
            throw ConfigurationError(
                "The Parse Server option \"\(name)\" contains an invalid IP address \"\(error.text)\"."
            )
        } catch let error as ConfigurationError {
            throw error
        } catch {
            throw self.error("a list of addresses")
        }
    }

    func bytes() throws(ConfigurationError) -> Int {
        let size = json.numberValue.flatMap { Int(exactly: $0) } ?? json.stringValue.flatMap(ByteSize.parse)
        guard let size, (1...1_073_741_824).contains(size) else {
            throw error("a size from 1 byte to 1 GB, such as \"20mb\" or 20971520")
        }
        return size
    }

    private static func text(_ number: Double) -> String {
        JSONValue.number(number).serializedString()
    }
}
