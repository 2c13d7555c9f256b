package io.verbena.cli;

import org.junit.jupiter.api.Test;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** Each codec of a message between processes is fuzzed, so that one that is added is, too. */
class FuzzedCodecsTest
{
    /** Where messages between processes are laid out. */
    private static final List<String> MODULES = List.of("protocol", "raas", "meta-server");
    /** Codecs that no fuzz names, and where they are fuzzed, or why they need not be. */
    private static final Map<String, String> OTHERWISE = Map.of(
        "AdmissionTokensDescriptor", "part of the replies to register and heartbeat: RegisterDescriptor",
        "SparesDescriptor", "part of the replies to register and heartbeat: RegisterDescriptor",
        "UserDescriptor", "a user in a list and alone: UsersDescriptor",
        "ServiceStatusDescriptor", "one word, each value of which is a state or none");

    private static List<Path> codecs()
    {
        return SourceTree.files("Descriptor.java").stream().filter((file) ->
        {
            final Path relative = SourceTree.root().relativize(file);
            return MODULES.contains(relative.getName(0).toString()) && relative.startsWith(
                Path.of(relative.getName(0).toString(), "src", "main"));
        }).toList();
    }

    @Test
    void shouldFuzzEachCodec()
    {
        final String fuzzes = String.join("\n", SourceTree.files("FuzzTest.java").stream().map(SourceTree::text)
            .toList());
        final List<String> names = codecs().stream()
            .map((file) -> file.getFileName().toString().replace(".java", "")).toList();
        assertThat(names).hasSizeGreaterThan(30).containsAll(OTHERWISE.keySet());
        assertThat(names.stream().filter((name) -> !OTHERWISE.containsKey(name))
            .filter((name) -> !Pattern.compile("\\b" + name + "(\\.|::)").matcher(fuzzes).find()))
            .as("codecs without a fuzz: add one to a *FuzzTest of their module").isEmpty();
    }
}
