package io.verbena.cli;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Which classes and packages of production code need each other in a circle: of a circle, nothing can be understood,
 * tested or replaced alone. Nested classes belong to the class around them.
 */
class ImportCyclesTest
{
    /** Lower it when circles are opened; it never grows. */
    private static final int MOST_CLASSES_IN_CYCLES = 25;
    private static final int MOST_CLASSES_IN_A_PACKAGE = 35;

    private static Map<String, Set<String>> classes;

    @BeforeAll
    static void readClasses()
    {
        classes = edges(new ClassFileImporter().importPaths(ArchitectureTest.productionFolders()));
    }

    @Test
    void shouldHaveNoCyclesBetweenPackages()
    {
        final Map<String, Set<String>> packages = new TreeMap<>();
        classes.forEach((name, targets) -> targets.forEach((target) ->
            packages.computeIfAbsent(packageOf(name), (key) -> new TreeSet<>()).add(packageOf(target))));
        assertThat(packages).hasSizeGreaterThan(30);

        assertThat(cycles(packages)).as("packages that need each other").isEmpty();
    }

    @Test
    void shouldHaveFewClassesInCycles()
    {
        final List<Set<String>> cycles = cycles(classes);
        final int count = cycles.stream().mapToInt(Collection::size).sum();

        assertThat(count).as("classes in cycles: " + cycles).isLessThanOrEqualTo(MOST_CLASSES_IN_CYCLES);
    }

    @Test
    void shouldHavePackagesThatCanBeSurveyed()
    {
        final Map<String, Integer> sizes = new TreeMap<>();
        classes.keySet().forEach((name) -> sizes.merge(packageOf(name), 1, Integer::sum));
        sizes.values().removeIf((size) -> size <= MOST_CLASSES_IN_A_PACKAGE);

        assertThat(sizes).as("packages with more classes than " + MOST_CLASSES_IN_A_PACKAGE).isEmpty();
    }

    @Test
    void shouldFindTheCyclesOfAGraph()
    {
        assertThat(cycles(Map.of("a", Set.of("b"), "b", Set.of("c", "e"), "c", Set.of("a"), "d", Set.of("a", "e"),
            "e", Set.of("f"), "f", Set.of("e")))).containsExactlyInAnyOrder(Set.of("a", "b", "c"), Set.of("e", "f"));
        assertThat(cycles(Map.of("a", Set.of("b", "c"), "b", Set.of("c"), "c", Set.of()))).isEmpty();
    }

    private static Map<String, Set<String>> edges(final JavaClasses production)
    {
        final Map<String, Set<String>> edges = new TreeMap<>();
        for (final JavaClass type : production)
        {
            if ("package-info".equals(type.getSimpleName()))
            {
                continue;
            }
            final String from = outermost(type);
            final Set<String> targets = edges.computeIfAbsent(from, (key) -> new TreeSet<>());
            for (final Dependency dependency : type.getDirectDependenciesFromSelf())
            {
                final String target = outermost(dependency.getTargetClass());
                if (target.startsWith("io.verbena.") && !target.equals(from))
                {
                    targets.add(target);
                }
            }
        }
        return edges;
    }

    private static String outermost(final JavaClass type)
    {
        final String name = type.getBaseComponentType().getName();
        final int nested = name.indexOf('$');
        return nested < 0 ? name : name.substring(0, nested);
    }

    private static String packageOf(final String name)
    {
        return name.substring(0, name.lastIndexOf('.'));
    }

    /** The sets of nodes, two or more, each of which reaches each other: Tarjan's algorithm. */
    private static List<Set<String>> cycles(final Map<String, Set<String>> edges)
    {
        final Walk walk = new Walk(edges);
        edges.keySet().forEach((node) ->
        {
            if (!walk.indices.containsKey(node))
            {
                walk.visit(node);
            }
        });
        return walk.cycles;
    }

    private static final class Walk
    {
        private final Map<String, Set<String>> edges;
        private final Map<String, Integer> indices = new HashMap<>();
        private final Map<String, Integer> lowest = new HashMap<>();
        private final Deque<String> open = new ArrayDeque<>();
        private final List<Set<String>> cycles = new ArrayList<>();

        private Walk(final Map<String, Set<String>> edges)
        {
            this.edges = edges;
        }

        private void visit(final String node)
        {
            final int index = indices.size();
            indices.put(node, index);
            lowest.put(node, index);
            open.push(node);
            for (final String target : edges.getOrDefault(node, Set.of()))
            {
                if (target.equals(node))
                {
                    continue;
                }
                if (!indices.containsKey(target))
                {
                    visit(target);
                    lowest.merge(node, lowest.get(target), Math::min);
                }
                else if (open.contains(target))
                {
                    lowest.merge(node, indices.get(target), Math::min);
                }
            }
            if (lowest.get(node) == index)
            {
                final Set<String> cycle = new TreeSet<>();
                String member;
                do
                {
                    member = open.pop();
                    cycle.add(member);
                }
                while (!member.equals(node));
                if (cycle.size() > 1)
                {
                    cycles.add(cycle);
                }
            }
        }
    }
}
