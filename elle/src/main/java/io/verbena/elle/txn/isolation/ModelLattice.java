package io.verbena.elle.txn.isolation;

import java.util.ArrayDeque;
import java.util.EnumSet;
import java.util.Set;

/**
 * Conclusions from the tables of {@link ConsistencyModel} and {@link AnomalyType}: what anomalies say about models.
 */
public final class ModelLattice
{
    private ModelLattice()
    {
    }

    /**
     * A model and everything it promises.
     *
     * @param model any.
     * @return the model and all weaker ones.
     */
    public static Set<ConsistencyModel> impliedBy(final ConsistencyModel model)
    {
        final Set<ConsistencyModel> reached = EnumSet.of(model);
        final ArrayDeque<ConsistencyModel> open = new ArrayDeque<>(reached);
        while (!open.isEmpty())
        {
            for (final ConsistencyModel weaker : open.pop().weaker())
            {
                if (reached.add(weaker))
                {
                    open.push(weaker);
                }
            }
        }
        return reached;
    }

    /**
     * Anomalies and everything they are cases of.
     *
     * @param found any.
     * @return those found and all more general ones.
     */
    public static Set<AnomalyType> closure(final Set<AnomalyType> found)
    {
        final Set<AnomalyType> reached = EnumSet.noneOf(AnomalyType.class);
        reached.addAll(found);
        final ArrayDeque<AnomalyType> open = new ArrayDeque<>(reached);
        while (!open.isEmpty())
        {
            for (final AnomalyType general : open.pop().caseOf())
            {
                if (reached.add(general))
                {
                    open.push(general);
                }
            }
        }
        return reached;
    }

    /**
     * The models that do not allow what was found.
     *
     * @param found anomalies.
     * @return all models that forbid one of them or a generalisation of it, and all stronger models.
     */
    public static Set<ConsistencyModel> ruledOutBy(final Set<AnomalyType> found)
    {
        final Set<AnomalyType> all = closure(found);
        final Set<ConsistencyModel> direct = EnumSet.noneOf(ConsistencyModel.class);
        for (final ConsistencyModel model : ConsistencyModel.values())
        {
            if (model.forbidden().stream().anyMatch(all::contains))
            {
                direct.add(model);
            }
        }
        return withStronger(direct);
    }

    /**
     * Models and all that promise more.
     *
     * @param models any.
     * @return those given and every model that implies one of them.
     */
    public static Set<ConsistencyModel> withStronger(final Set<ConsistencyModel> models)
    {
        final Set<ConsistencyModel> all = EnumSet.noneOf(ConsistencyModel.class);
        for (final ConsistencyModel model : ConsistencyModel.values())
        {
            if (impliedBy(model).stream().anyMatch(models::contains))
            {
                all.add(model);
            }
        }
        return all;
    }

    /**
     * The weakest of some models.
     *
     * @param models any.
     * @return those that imply no other of them.
     */
    public static Set<ConsistencyModel> weakest(final Set<ConsistencyModel> models)
    {
        final Set<ConsistencyModel> weakest = EnumSet.noneOf(ConsistencyModel.class);
        for (final ConsistencyModel model : models)
        {
            if (impliedBy(model).stream().noneMatch(other -> other != model && models.contains(other)))
            {
                weakest.add(model);
            }
        }
        return weakest;
    }

    /**
     * The strongest models that remain.
     *
     * @param ruledOut models that are impossible.
     * @return of the others those that no other of the others implies.
     */
    public static Set<ConsistencyModel> strongestWithout(final Set<ConsistencyModel> ruledOut)
    {
        final Set<ConsistencyModel> remaining = EnumSet.allOf(ConsistencyModel.class);
        remaining.removeAll(ruledOut);
        final Set<ConsistencyModel> strongest = EnumSet.noneOf(ConsistencyModel.class);
        strongest.addAll(remaining);
        for (final ConsistencyModel model : remaining)
        {
            final Set<ConsistencyModel> implied = impliedBy(model);
            implied.remove(model);
            strongest.removeAll(implied);
        }
        return strongest;
    }
}
