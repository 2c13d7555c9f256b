package io.verbena.compute.control;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;

/** Puts copies where few of them are lost together. Stateless. */
final class FailureDomains
{
    private FailureDomains()
    {
    }

    /**
     * Chooses nodes in as many different failure domains as there are; where there are fewer of these than nodes are
     * wanted, the domains get as many each, but for one.
     *
     * @param <T>     a node.
     * @param nodes   the better ones first; at least {@code count}.
     * @param labelOf of the failure domain of a node; null: it is one of its own.
     * @param count   nodes wanted.
     * @return so many of them, in their order.
     */
    static <T> List<T> spread(final List<T> nodes, final Function<T, String> labelOf, final int count)
    {
        final List<T> left = new ArrayList<>(nodes);
        final Set<T> chosen = new HashSet<>();
        while (chosen.size() < count && !left.isEmpty())
        {
            final Set<String> taken = new HashSet<>();
            left.removeIf((node) ->
            {
                final String label = labelOf.apply(node);
                return chosen.size() < count && (null == label || taken.add(label)) && chosen.add(node);
            });
        }
        return nodes.stream().filter(chosen::contains).toList();
    }
}
