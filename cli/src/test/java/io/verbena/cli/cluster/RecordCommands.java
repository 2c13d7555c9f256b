package io.verbena.cli.cluster;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

/** What {@code append}, {@code increment} and commands that show tables say of table {@code more} of a cluster. */
final class RecordCommands
{
    private final Path folder;
    private CommandLines.Result last;

    RecordCommands(final Path folder)
    {
        this.folder = folder;
    }

    private void expect(final int status, final String... arguments)
    {
        final List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--data", folder.toString()));
        last = CommandLines.run(all);
        assertThat(last.status()).as("%s: %s%s", all, last.out(), last.err()).isEqualTo(status);
    }

    private void succeed(final String... arguments)
    {
        expect(ExitStatus.OK, arguments);
    }

    void check()
    {
        succeed("table", "list", "--json");
        assertThat(JsonReader.object(last.out())).containsEntry("tables", List.of("default", "more"));
        succeed("append", "log", "one,", "--table", "more");
        succeed("append", "log", "two", "--table", "more");
        final String version = last.out().strip();
        succeed("get", "log", "--table", "more", "--show-version");
        assertThat(last.out()).isEqualTo(version + "\tone,two\n");
        succeed("increment", "visits", "--table", "more");
        succeed("increment", "visits", "41", "--table", "more");
        assertThat(last.out()).isEqualTo("42\n");
        succeed("increment", "visits", "-2", "--table", "more");
        assertThat(last.out()).isEqualTo("40\n");
        expect(ExitStatus.USAGE, "increment", "log", "--table", "more");
        assertThat(last.err()).contains("no counter, neither 8 bytes nor decimal digits").hasLineCount(1);
        succeed("put", "stock", "9", "--table", "more");
        succeed("increment", "stock", "--table", "more");
        assertThat(last.out()).isEqualTo("10\n");
        succeed("get", "stock", "--table", "more");
        assertThat(last.out()).isEqualTo("10\n");
        succeed("table", "inspect", "block", "--table", "more", "--key", "stock");
        assertThat(last.out()).contains("10, in digits");
        succeed("table", "inspect", "block", "--table", "more", "--key", "visits");
        assertThat(last.out()).contains("40, in 8 bytes");
        succeed("table", "inspect", "block", "--table", "more", "--key", "log", "--json");
        assertThat(last.out()).contains("\"value_length\": 7", "\"version\": " + version, "\"counter\": \"no\"");
        succeed("table", "inspect", "slot", "--table", "more", "--key-hex", "6c6f67");
        assertThat(last.out()).contains("block offset");
        expect(ExitStatus.FAILED, "table", "inspect", "block", "--key", "log");
        assertThat(last.err()).contains("no such record in table default").hasLineCount(1);
    }
}
