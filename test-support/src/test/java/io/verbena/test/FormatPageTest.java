package io.verbena.test;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

class FormatPageTest
{
    @TempDir
    private Path folder;

    /** A layout with a page. */
    private static final class Layout
    {
        static final int MAGIC = 77;
        static final int NAME_OFFSET = 0;
        static final int LENGTH_BYTES = 16;
        private static final int HIDDEN = 5;
    }

    private FormatPage page(final String... rows) throws IOException
    {
        final String text = "# Page\n\n## Layout\n\n| name | value |\n|---|---|\n" + String.join("\n", rows) +
            "\n\n## Other\n\n| `HIDDEN` | " + Layout.HIDDEN + " |\n";
        return new FormatPage(Files.writeString(folder.resolve("page.md"), text));
    }

    @Test
    void shouldAgreeWithClassWhoseConstantsItHas() throws IOException
    {
        page("| `NAME_OFFSET` | 0 | where |", "| `LENGTH_BYTES` | 16 |").shouldAgreeWith(Layout.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "| `NAME_OFFSET` | 0 |", "| `NAME_OFFSET` | 0 |\n| `LENGTH_BYTES` | 17 |",
        "| `NAME_OFFSET` | 0 |\n| `LENGTH_BYTES` | 16 |\n| `GONE` | 3 |"})
    void shouldFailWhenConstantIsMissingOtherOrGone(final String rows) throws IOException
    {
        final FormatPage page = page(rows);
        assertThatThrownBy(() -> page.shouldAgreeWith(Layout.class)).isInstanceOf(AssertionError.class);
        assertThatThrownBy(() -> page.shouldAgreeWith(String.class)).isInstanceOf(AssertionError.class);
    }
}
