/// A media type without its parameters (RFC 9110, section 8.3.1), and what is known about it.
package struct MediaType: Sendable, Hashable {
    /// In lower case.
    package let name: String

    /// The type of a `Content-Type` header; `nil` for an empty one.
    package init?(contentType: String) {
        let bare = contentType.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }
        guard !bare.isEmpty else { return nil }
        written = bare
        name = bare.lowercased()
    }

    private init(name: String) {
        written = name
        self.name = name
    }

    private let written: String

    /// The type of a file by the extension of its name.
    package init(fileName: String) {
        let known = FileName.pathExtension(of: fileName).flatMap { Self.typesByExtension[$0.lowercased()] }
        self.init(name: known ?? "application/octet-stream")
    }

    /// What follows the slash, as it was written; all of it without one.
    var subtype: String {
        let parts = written.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        return String(parts.last ?? "")
    }

    /// The extension that files of this type have; `nil` for a type that is not known.
    var usualExtension: String? {
        Self.extensionsByType[name]
    }

    /// As a header says it: with the charset where the content is text.
    package var headerValue: String {
        isText ? name + "; charset=utf-8" : name
    }

    /// Whether a browser may open such a file within a page, or as one.
    ///
    /// A list of what is harmless, because what is not known to be must be taken for a page.
    package var isInert: Bool {
        let family = name.prefix { $0 != "/" }
        switch family {
        case "image": return !name.hasSuffix("xml")
        case "audio", "video", "font": return true
        default: return Self.inertTypes.contains(name)
        }
    }

    private var isText: Bool {
        name.hasPrefix("text/") || name.hasSuffix("+xml") && !name.hasPrefix("image/")
            || ["application/json", "application/javascript", "application/xml"].contains(name)
    }

    private static let inertTypes: Set<String> = [
        "text/plain", "text/csv", "text/tab-separated-values", "application/json", "application/pdf",
        "application/octet-stream",
    ]

    /// Types with their extensions, the usual one first.
    private static let table: [(type: String, extensions: [String])] = [
        ("application/octet-stream", ["bin"]), ("application/pdf", ["pdf"]),
        ("application/json", ["json", "map"]),
        ("application/geo+json", ["geojson"]), ("application/zip", ["zip"]), ("application/gzip", ["gz"]),
        ("application/x-tar", ["tar"]), ("application/x-bzip2", ["bz2"]),
        ("application/x-7z-compressed", ["7z"]),
        ("application/vnd.rar", ["rar"]), ("application/x-xz", ["xz"]), ("application/zstd", ["zst"]),
        ("application/rtf", ["rtf"]), ("application/msword", ["doc", "dot"]),
        ("application/vnd.ms-excel", ["xls", "xlt"]), ("application/vnd.ms-powerpoint", ["ppt", "pps"]),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", ["docx"]),
        ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ["xlsx"]),
        ("application/vnd.openxmlformats-officedocument.presentationml.presentation", ["pptx"]),
        ("application/vnd.oasis.opendocument.text", ["odt"]),
        ("application/vnd.oasis.opendocument.spreadsheet", ["ods"]),
        ("application/vnd.oasis.opendocument.presentation", ["odp"]),
        ("application/epub+zip", ["epub"]), ("application/postscript", ["ps", "ai", "eps"]),
        ("application/vnd.apple.pkpass", ["pkpass"]), ("application/vnd.android.package-archive", ["apk"]),
        ("application/x-sqlite3", ["sqlite", "db"]), ("application/wasm", ["wasm"]),
        ("application/toml", ["toml"]),
        ("application/x-sh", ["sh"]), ("application/x-x509-ca-cert", ["crt", "der", "pem"]),
        ("application/x-www-form-urlencoded", []), ("application/vnd.google-earth.kml+xml", ["kml"]),
        ("application/vnd.google-earth.kmz", ["kmz"]), ("application/gpx+xml", ["gpx"]),
        ("application/xml", ["xml", "xsl", "xsd", "rng"]), ("application/xslt+xml", ["xslt"]),
        ("application/xhtml+xml", ["xhtml", "xht"]), ("application/rdf+xml", ["rdf", "owl"]),
        ("application/mathml+xml", ["mathml"]), ("application/atom+xml", ["atom"]),
        ("application/rss+xml", ["rss"]), ("application/manifest+json", ["webmanifest"]),
        ("application/javascript", []), ("application/x-shockwave-flash", ["swf"]),
        ("text/plain", ["txt", "text", "log", "conf", "ini"]), ("text/html", ["html", "htm", "shtml"]),
        ("text/css", ["css"]), ("text/csv", ["csv"]), ("text/javascript", ["js", "mjs"]),
        ("text/markdown", ["md", "markdown"]),
        ("text/calendar", ["ics"]), ("text/vcard", ["vcard", "vcf"]), ("text/tab-separated-values", ["tsv"]),
        ("text/xml", []), ("text/yaml", ["yaml", "yml"]), ("text/vtt", ["vtt"]),
        ("image/jpeg", ["jpg", "jpeg", "jpe"]), ("image/png", ["png"]), ("image/gif", ["gif"]),
        ("image/webp", ["webp"]), ("image/heic", ["heic"]), ("image/heif", ["heif"]),
        ("image/avif", ["avif"]),
        ("image/tiff", ["tif", "tiff"]), ("image/bmp", ["bmp"]), ("image/x-icon", ["ico"]),
        ("image/vnd.microsoft.icon", []), ("image/svg+xml", ["svg", "svgz"]), ("image/apng", ["apng"]),
        ("image/vnd.adobe.photoshop", ["psd"]), ("image/jxl", ["jxl"]), ("image/x-adobe-dng", ["dng"]),
        ("audio/mpeg", ["mp3", "mpga"]), ("audio/mp4", ["m4a", "mp4a"]), ("audio/aac", ["aac"]),
        ("audio/wav", ["wav"]), ("audio/ogg", ["oga", "ogg", "opus"]), ("audio/flac", ["flac"]),
        ("audio/midi", ["mid", "midi"]), ("audio/x-aiff", ["aif", "aiff"]), ("audio/x-caf", ["caf"]),
        ("audio/amr", ["amr"]), ("audio/webm", ["weba"]),
        ("video/mp4", ["mp4", "m4v", "mp4v"]), ("video/quicktime", ["mov", "qt"]), ("video/webm", ["webm"]),
        ("video/ogg", ["ogv"]), ("video/mpeg", ["mpeg", "mpg"]), ("video/x-msvideo", ["avi"]),
        ("video/x-matroska", ["mkv"]), ("video/3gpp", ["3gp"]), ("video/mp2t", ["ts"]),
        ("application/vnd.apple.mpegurl", ["m3u8"]),
        ("font/woff", ["woff"]), ("font/woff2", ["woff2"]), ("font/ttf", ["ttf"]), ("font/otf", ["otf"]),
        ("model/gltf-binary", ["glb"]), ("model/gltf+json", ["gltf"]), ("model/vnd.usdz+zip", ["usdz"]),
        ("message/rfc822", ["eml"]),
    ]

    /// Other names of types, which have the extension of the one they mean.
    private static let aliases = [
        "application/javascript": "js", "application/x-javascript": "js", "text/xml": "xml",
        "image/vnd.microsoft.icon": "ico", "image/jpg": "jpg", "audio/x-wav": "wav", "audio/mp3": "mp3",
        "audio/x-m4a": "m4a", "application/x-zip-compressed": "zip", "application/x-gzip": "gz",
        "video/x-m4v": "m4v", "application/x-pdf": "pdf",
    ]

    private static let typesByExtension: [String: String] = {
        var types: [String: String] = [:]
        for entry in table { for text in entry.extensions { types[text] = entry.type } }
        return types
    }()

    private static let extensionsByType: [String: String] = {
        var extensions = aliases
        for entry in table { if let first = entry.extensions.first { extensions[entry.type] = first } }
        return extensions
    }()
}
