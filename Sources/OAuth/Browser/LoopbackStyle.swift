import Crypto
import FoundationEssentials

/// The style of the loopback port's pages.
enum LoopbackStyle {
    /// lanyard's logo, for the browser tab.
    static let icon =
        "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E"
        + "%3Cpath d='M3.4 12.6a6.5 6.5 0 1 1 9.2 0' fill='none' stroke='%231a5fb4' stroke-width='3'/%3E%3C/svg%3E"

    /// The digest that the pages' content security policy allows the style by.
    static let digest = Data(SHA256.hash(data: Data(text.utf8))).base64EncodedString()

    /// The style sheet; every pair of colours has a contrast of more than 7:1 (WCAG 2.2, 1.4.6).
    static let text = """
        :root{color-scheme:light dark;--ground:#f3f1ec;--card:#fff;--ink:#1d2230;--soft:#474e5d;--line:#d5d3cc;
        --accent:#1a5fb4;--box:#f6f5f1;--done:#0b5a2b;--stopped:#8a1c1c;--wait:#3d444d}
        *{box-sizing:border-box}
        body{margin:0;min-height:100vh;display:flex;flex-direction:column;align-items:center;justify-content:center;gap:1.25rem;
        padding:1.5rem 1rem;background:var(--ground);color:var(--ink);
        font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",sans-serif}
        main{width:100%;max-width:34rem;background:var(--card);border:1px solid var(--line);border-radius:.75rem;padding:2rem;
        box-shadow:0 .5rem 2rem rgb(0 0 0/.07)}
        p{margin:0}
        .brand{display:flex;align-items:center;gap:.6rem;margin:0 0 1.25rem;color:var(--soft);font-size:.9rem}
        .mark{width:1.1rem;height:1.1rem;border:.25rem solid var(--accent);border-radius:50%;border-bottom-color:transparent}
        .sign{display:grid;place-items:center;width:2.5rem;height:2.5rem;border-radius:50%;margin:0 0 1rem;color:var(--card);
        font-size:1.5rem;line-height:1;font-weight:700}
        .done{background:var(--done)}
        .stopped{background:var(--stopped)}
        .wait{background:var(--wait)}
        h1{font-size:1.5rem;line-height:1.25;font-weight:600;margin:0 0 .5rem;overflow-wrap:anywhere}
        h1:focus{outline:none}
        blockquote{margin:1rem 0 0;padding:0 0 0 .9rem;border-inline-start:.25rem solid var(--stopped);overflow-wrap:anywhere}
        section{margin:1.25rem 0 0;padding:.9rem 1rem;background:var(--box);border-radius:.4rem;font-size:.875rem}
        dl{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1rem;margin:1.25rem 0 0;font-size:.9rem}
        section dl{margin:.6rem 0 0;font-size:inherit}
        dt{color:var(--soft)}
        dd{margin:0;overflow-wrap:anywhere;user-select:all;-webkit-user-select:all}
        footer{max-width:34rem;text-align:center;color:var(--soft);font-size:.85rem}
        @media (max-width:26rem){main{padding:1.5rem 1.25rem}dl{grid-template-columns:1fr;gap:0}dd{margin:0 0 .5rem}}
        @media (prefers-color-scheme:dark){
        :root{--ground:#14161c;--card:#1e212a;--ink:#eceef3;--soft:#b6bdcb;--line:#3a3f4c;--accent:#8ab8f5;--box:#262a35;
        --done:#6fdc97;--stopped:#ff9d97;--wait:#b6bec9}}
        """
}
