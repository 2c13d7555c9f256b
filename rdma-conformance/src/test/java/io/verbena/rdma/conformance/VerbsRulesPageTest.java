package io.verbena.rdma.conformance;

import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.assertj.core.api.Assertions.assertThat;

/** The page that names a test for each rule of the verbs names tests that exist, of every group. */
class VerbsRulesPageTest
{
    private static final Path PAGE = Path.of("..", "docs", "protocol", "verbs-rules.md");
    private static final Pattern GROUP = Pattern.compile("[Gg]roup `(\\w+)`");

    @Test
    void shouldNameTestsThatExistOfEveryGroup() throws IOException
    {
        final Set<String> rules = new TreeSet<>();
        final Set<String> groups = new TreeSet<>();
        for (final Class<?> group : VerbsConformance.class.getDeclaredClasses())
        {
            if (group.isAnnotationPresent(Nested.class))
            {
                groups.add(group.getSimpleName());
                for (final Method method : group.getSuperclass().getDeclaredMethods())
                {
                    if (method.isAnnotationPresent(Test.class))
                    {
                        rules.add(group.getSimpleName() + method.getName().replaceFirst("^should", "."));
                    }
                }
            }
        }
        final String page = Files.readString(PAGE);
        final Set<String> named = new TreeSet<>();
        final Matcher matcher = Pattern.compile("`((?:" + String.join("|", groups) + ")\\.\\w+)`").matcher(page);
        while (matcher.find())
        {
            named.add(matcher.group(1));
        }
        assertThat(named).hasSizeGreaterThan(150).allMatch(rules::contains);
        final Set<String> used = new TreeSet<>();
        named.forEach(rule -> used.add(rule.substring(0, rule.indexOf('.'))));
        final Matcher wholes = GROUP.matcher(page);
        while (wholes.find())
        {
            used.add(wholes.group(1));
        }
        // How connections are made and memory is registered is ours, not the verbs'.
        groups.removeAll(Set.of("Connections", "Registration"));
        assertThat(used).containsAll(groups);
    }
}
