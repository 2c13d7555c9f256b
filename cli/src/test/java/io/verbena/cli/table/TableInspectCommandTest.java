package io.verbena.cli.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.cli.CommandLines;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What {@code table check} and {@code table inspect} say of arguments that cannot be, and of a cluster that is not. */
class TableInspectCommandTest
{
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "inspect nonsense, 64, is not one of superblock",
        "inspect superblock 3, 64, superblock takes no number: '3'; --memory-node names",
        "inspect directory orders, 64, directory takes no number: 'orders'; --table names the table",
        "inspect bucket, 64, which bucket: give its number",
        "inspect slot, 64, which slot: give its offset",
        "inspect slot zz, 64, is not a number of 0 or more",
        "inspect bucket -1, 64, is not a number of 0 or more",
        "inspect bucket --key k, 64, a record has a slot and a block",
        "inspect block 64 --key k, 64, block of a key takes no offset",
        "inspect slot --key k --key-hex 6b, 64, choose one",
        "inspect slot --key-hex 6, 64, not hex digits",
        "check, 64, no table given",
        "check orders --all, 64, give one of both",
        "check orders --timeout-ms 0, 64, --timeout-ms 0",
        "check orders, 69, no cluster in",
        "inspect superblock, 69, no cluster in"})
    void shouldSayInOneLineWhatIsWrong(final String arguments, final int status, final String message)
    {
        final List<String> all = new ArrayList<>(List.of(("table " + arguments).split(" ")));
        all.addAll(List.of("--data", directory.toString()));
        final CommandLines.Result result = CommandLines.run(all);
        assertThat(result.err()).contains(message.replace("\"", "")).hasLineCount(1);
        assertThat(result.status()).isEqualTo(status);
    }
}
