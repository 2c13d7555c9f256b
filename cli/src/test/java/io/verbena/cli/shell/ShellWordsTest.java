package io.verbena.cli.shell;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;

import static org.assertj.core.api.Assertions.assertThat;

/** The words of a line: the same that bash makes of it. */
@Timeout(60)
class ShellWordsTest
{
    private static final int LINES = 400;
    /** No characters that bash expands. */
    private static final String CHARACTERS = "ab'\"\\ \t\u00e4.#-";

    @Test
    void shouldMakeTheWordsThatBashMakes() throws IOException, InterruptedException
    {
        final Random random = new Random(7);
        final List<String> lines = new ArrayList<>(List.of(
            "put k 'it is'", "a\\ b \"c\\\"d\" ''", "'a'\"b\"c", "\"a\\b\" a\\b 'a\\b'", "a\"\\\n\"b", "x#y"));
        while (lines.size() < LINES)
        {
            final StringBuilder line = new StringBuilder("x ");
            for (int i = random.nextInt(20); i >= 0; i--)
            {
                line.append(CHARACTERS.charAt(random.nextInt(CHARACTERS.length())));
            }
            // A comment of bash may begin at any word; one of the shell is a line.
            if (!ShellWords.of(line.toString()).isOpen() && !line.toString().matches("(?s).*\\s#.*"))
            {
                lines.add(line.toString());
            }
        }
        final StringBuilder script = new StringBuilder();
        lines.forEach((line) -> script.append("printf '%s\\037' ").append(line).append("\nprintf '\\036'\n"));
        final Process bash = new ProcessBuilder("bash", "-c", script.toString()).redirectErrorStream(true).start();
        final String printed = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).as(printed).isZero();
        final String[] answers = printed.split("\036");
        assertThat(answers).hasSize(lines.size());
        for (int i = 0; i < answers.length; i++)
        {
            assertThat(ShellWords.of(lines.get(i)).words()).as(lines.get(i))
                .isEqualTo(Arrays.asList(answers[i].split("\037", -1)).subList(0, words(answers[i])));
        }
    }

    private static int words(final String answer)
    {
        return (int)answer.chars().filter((character) -> '\037' == character).count();
    }

    @ParameterizedTest
    @ValueSource(strings = {"put 'a", "put \"a", "put a\\", "put \"a\\", "\"a\\\"", "put a 'b\nc"})
    void shouldKnowThatMoreIsToCome(final String line)
    {
        assertThat(ShellWords.of(line).isOpen()).isTrue();
    }

    @Test
    void shouldSkipComments()
    {
        assertThat(ShellWords.of("  # it's one").words()).isEmpty();
        assertThat(ShellWords.of("  # it's one").isOpen()).isFalse();
        assertThat(ShellWords.of(" \t ").words()).isEmpty();
        assertThat(ShellWords.of("get '#'").words()).containsExactly("get", "#");
    }
}
