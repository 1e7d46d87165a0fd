// Puts the pages first whose title or entries of the index have the words of the query, in any order and number.
//
// Sphinx itself compares the query letter by letter with both, and has the same score for most other pages. It includes
// this file before its search, with its own scores below, and calls `score` for each result.

var Scorer = (() => {
  const FILLER = 0.25;  // the weight of words such as "which" and "is", beside 1 for others
  const MOST = 60;  // added where all words agree: more than any text, less than an entry that is the query

  const weigh = words => [...words].reduce((sum, word) => sum + (stopwords.has(word) ? FILLER : 1), 0);

  const wordsOf = text => {
    const stemmer = new Stemmer();
    const words = text.toLowerCase().split(/[^\p{Letter}\p{Number}_]+/u).filter(Boolean);
    return new Set(words.map(word => (stopwords.has(word) ? word : stemmer.stemWord(word))));
  };

  /** The share of the words that the query and a phrase have in common in those that any of them has. */
  const likeness = (query, phrase) => {
    const both = weigh([...query].filter(word => phrase.has(word)));
    return both / (weigh(query) + weigh(phrase) - both || 1);
  };

  /** The title of each page and its main entries of the index, by the name of the page. */
  let phrases = null;
  const collect = ({docnames, titles, indexentries}) => {
    const found = Object.fromEntries(docnames.map((name, number) => [name, [wordsOf(titles[number])]]));
    for (const [entry, uses] of Object.entries(indexentries))
      for (const [number, , isMain] of uses) if (isMain) found[docnames[number]].push(wordsOf(entry));
    return found;
  };

  return {
    score: ([page, title, , , score]) => {
      phrases ??= collect(Search._index);
      const query = wordsOf(new URLSearchParams(location.search).get("q") ?? "");
      const section = wordsOf(title.split(" > ").pop());
      return score + MOST * Math.max(...[section, ...phrases[page]].map(phrase => likeness(query, phrase)));
    },
    objNameMatch: 11,
    objPartialMatch: 6,
    objPrio: {0: 15, 1: 5, 2: -5},
    objPrioDefault: 0,
    title: 15,
    partialTitle: 7,
    term: 5,
    partialTerm: 2,
  };
})();
