package io.verbena.cli.role;

import io.verbena.cli.CommandLines;
import io.verbena.cli.console.ExitStatus;

import org.junit.jupiter.api.Test;

import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;

class FailureDomainOptionTest
{
    private static void assertRefused(final String text, final String... arguments)
    {
        final CommandLines.Result result = CommandLines.run(List.of(arguments));
        assertThat(result.status()).isEqualTo(ExitStatus.USAGE);
        assertThat(result.err()).contains(text).hasLineCount(1);
    }

    @Test
    void shouldRefuseWhatIsNoLabel()
    {
        assertRefused("--failure-domain a b: a label has 1 to 63 letters, digits, '.', '_' or '-', and begins with a " +
            "letter or digit", "memory-node", "--failure-domain", "a b", "--cluster", "verbena://localhost:1",
            "--token-file", "none");
        assertRefused("--failure-domains .x: a label has", "up", "--failure-domains", "a,.x", "--memory-nodes", "2");
    }

    @Test
    void shouldRefuseAsManyLabelsAsThereAreNoMemoryNodes()
    {
        assertRefused("--failure-domains a,b: there are 2 labels, and --memory-nodes 3",
            "up", "--failure-domains", "a,b", "--memory-nodes", "3");
        assertRefused("--failure-domains a,b: there are 2 labels, and --memory-nodes 1", "up", "--failure-domains",
            "a,b");
    }
}
