package io.verbena.elle.html;

import io.verbena.elle.Validity;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.stream.Collectors;

/**
 * Puts a page together: style, text, data and script in one document that loads nothing. The document forbids itself by
 * its content security policy to reach anything outside.
 */
final class Page
{
    private static final String POLICY =
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";

    private Page()
    {
    }

    /**
     * Makes the document.
     *
     * @param title     shown as given; escaped here.
     * @param bodyClass name of the kind of page, for the style.
     * @param body      markup, with everything that comes from a history escaped.
     * @param data      JSON.
     * @param scripts   names of the scripts beside this class, in the order in which they run.
     */
    static String of(
        final String title, final String bodyClass, final String body, final String data, final String... scripts)
    {
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" content="%s">
            <title>%s</title>
            <style>
            %s</style>
            </head>
            <body class="%s">
            %s
            <script type="application/json" id="data">%s</script>
            <script>
            %s</script>
            </body>
            </html>
            """.formatted(POLICY, escape(title), resource("page.css"), bodyClass, body, inScript(data),
            resource("common.js") + Arrays.stream(scripts).map(Page::resource).collect(Collectors.joining()));
    }

    /** Text as markup: nothing in it can become an element or leave an attribute. */
    static String escape(final String text)
    {
        final StringBuilder escaped = new StringBuilder(text.length() + 16);
        for (int i = 0; i < text.length(); i++)
        {
            final char c = text.charAt(i);
            switch (c)
            {
                case '&' -> escaped.append("&amp;");
                case '<' -> escaped.append("&lt;");
                case '>' -> escaped.append("&gt;");
                case '"' -> escaped.append("&quot;");
                case '\'' -> escaped.append("&#39;");
                default -> escaped.append(c);
            }
        }
        return escaped.toString();
    }

    /** The mark with which every page begins. */
    static String badge(final Validity validity, final String words)
    {
        final String mark = switch (validity)
        {
            case VALID -> "✓";
            case INVALID -> "✕";
            case UNKNOWN -> "?";
        };
        return "<span class=\"badge " + validity.word() + "\"><span aria-hidden=\"true\">" + mark + "</span> " +
            escape(words) + "</span>";
    }

    /** Within a script, only a less-than sign can end it; JSON can write that another way. */
    private static String inScript(final String json)
    {
        return json.replace("<", "\\u003c");
    }

    private static String resource(final String name)
    {
        try (InputStream in = Page.class.getResourceAsStream(name))
        {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }
}
