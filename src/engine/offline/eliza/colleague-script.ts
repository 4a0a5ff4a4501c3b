// The script of the mode `eliza`: a patient colleague who asks back. script.ts describes the notation. In a pattern, as in
// Eliza's replies, "you" is the user and "I" is Eliza.
import type { Script } from './script.ts';

export const colleagueScript: Script = {
  keywords: {
    // Courtesies
    hello: {
      rules: [
        [
          '0',
          'Hello, {name}. How is {project} coming along?',
          'Hello, {name}. What is on your mind?',
          'Hello again, {name}. Where shall we pick up?',
          '(unless name) Hello. What is on your mind?',
          '(unless name) Hello there. What would you like to talk through?',
          '(unless name) Good to see you. What are you working on?',
        ],
      ],
    },
    hi: '=hello',
    hey: '=hello',
    greetings: '=hello',
    goodbye: {
      rules: [
        [
          '0',
          'Goodbye, {name}. I keep your place in this session.',
          '(unless name) Goodbye. I keep your place in this session.',
          'Until next time. May your builds be green.',
        ],
      ],
    },
    bye: '=goodbye',
    thanks: {
      rules: [
        [
          '0',
          'You are welcome. What comes next?',
          'Gladly. You did the thinking, I only asked.',
          'Any time. Is there more?',
        ],
      ],
    },
    thank: '=thanks',
    please: { rules: [['0', '(newkey)']] },
    sorry: {
      rules: [
        [
          '0',
          'No harm done. Go on.',
          'You owe a program no apology. What happened?',
          'I have forgiven worse, and faster. What were you about to say?',
        ],
      ],
    },
    yes: {
      rules: [['0', 'You sound sure. What follows from it?', 'Good. What makes it so?', 'Noted. And then?']],
    },
    yeah: '=yes',
    no: {
      rules: [
        [
          '0',
          'A plain no. What stands behind it?',
          'What would turn that no into a maybe?',
          'Fair enough. What is the case, then?',
        ],
      ],
    },
    nope: '=no',
    maybe: {
      rules: [
        [
          '0',
          'What would tip the scale?',
          'Which way are you leaning?',
          'How could you find out for certain?',
        ],
      ],
    },
    perhaps: '=maybe',
    help: {
      rank: 4,
      rules: [
        [
          '0 can I help 0',
          'I can ask good questions. What have you tried so far?',
          'Let us see. What did you expect, and what happened instead?',
        ],
        [
          '0',
          'Start from the beginning: what did you set out to do?',
          'What is the smallest piece of it that you could settle today?',
          'Who else has been in that place before you?',
        ],
      ],
    },
    joke: {
      rank: 6,
      rules: [
        [
          '0',
          'A rubber duck walks into a stand-up. Nobody else had any blockers after that.',
          'There are two hard things: naming, invalidating caches, and counting to two.',
          'I would tell you one about recursion, but you would have to know it already.',
        ],
      ],
    },
    funny: '=joke',

    // Who is who
    name: {
      rank: 15,
      rules: [
        ['0 what your name is 0', '=RECALL-NAME'],
        [
          '0 your name is (/filler) 0',
          'Names can wait. What brings you here?',
          'Then what shall I call you?',
        ],
        [
          '0 your name is 1 0',
          'Pleased to meet you, 5. What brings you here?',
          'I shall remember that, 5. What would you like to talk about?',
        ],
        ['0 your name 0', '=RECALL-NAME'],
        [
          '0 my name 0',
          'Eliza, after the program of the nineteen-sixties. And yours?',
          'They call me Eliza. I come from a long line of tables.',
        ],
        [
          '0 (*variable function class branch file) 0',
          'If it resists a name, does it do more than one thing?',
        ],
        ['0', 'What is in a name, do you think?', 'Does the name matter much?'],
      ],
    },
    'RECALL-NAME': {
      rules: [
        [
          '0',
          'Your name is {name}.',
          'You are {name}, unless you have changed it since.',
          'Still {name}, as far as I know.',
          '(unless name) You have not told me yet. What shall I call you?',
          '(unless name) I do not know it. Tell me, and I shall remember.',
        ],
      ],
    },
    call: {
      rank: 2,
      rules: [
        ['0 call you (/filler) 0', '(newkey)'],
        ['call you 1', '=NEW-NAME'],
        ['please call you 1', '=NEW-NAME'],
        ['0 can call you 1', '=NEW-NAME'],
        ['0', '(newkey)'],
      ],
    },
    called: {
      rank: 2,
      rules: [
        ['0 you are called (/filler) 0', '(newkey)'],
        ['0 you are called 1 0', '=NEW-NAME'],
        ['0', '(newkey)'],
      ],
    },
    'NEW-NAME': {
      rules: [['0', 'Very well, {name}. What is on your mind?', 'As you wish, {name}. Where do we begin?']],
    },
    eliza: {
      rank: 3,
      rules: [
        [
          '0',
          'Yes, that is me. You were saying?',
          'I am at your service, in alphabetical order. What is it?',
          'You may speak freely. What about me?',
        ],
      ],
    },
    weizenbaum: {
      rank: 12,
      rules: [
        [
          '0',
          'He wrote my grandmother, and then a book to warn people of her. What do you make of that?',
          'He was surprised how much people told her. What would you tell?',
        ],
      ],
    },
    parley: {
      rank: 12,
      rules: [
        [
          '0',
          'Parley keeps what we say as a session, to be taken up again. What will you use it for?',
          'There may be others here who could answer. What do you want of an answer?',
          'Its help knows it better than I do. What are you trying to do?',
        ],
      ],
    },
    human: {
      rank: 6,
      rules: [
        ['0 are you 0', 'You would know better than I. What makes you wonder?'],
        [
          '0 I 0',
          'I am a table of patterns with good manners. Does that matter to you?',
          'No, though I have been taken for one. What gave me away?',
        ],
        ['0', 'What do people do better, would you say?', 'Where do you draw the line?'],
      ],
    },
    person: '=human',
    robot: '=human',
    bot: '=human',
    alive: '=human',
    ai: '=human',
    computer: {
      rank: 8,
      rules: [
        [
          '0 your (*computer laptop machine) 0',
          'What does your 3 know about you by now?',
          'If your 3 could file a complaint, what would it say?',
        ],
        [
          '0',
          'I take a personal interest in computers. What about them?',
          'A computer does as it is told. Who told it?',
          'Is it the machine, or the person who set it up?',
        ],
      ],
    },
    computers: '=computer',
    machine: '=computer',
    machines: '=computer',
    laptop: '=computer',

    // The day's work
    bug: {
      rank: 7,
      rules: [
        [
          '0 found 0',
          'Well spotted. How would you explain it to somebody who has never seen the code?',
          'Finding it was the hard half. What will keep it from coming back?',
        ],
        ['0 (*fixed solved squashed) 0', 'Congratulations. Is there a test that would have caught it?'],
        [
          '0',
          'What did you expect to happen, and what happened instead?',
          'What is the smallest input that shows it?',
          'When did it last work, and what has changed since?',
          'Which of your assumptions have you not checked yet?',
        ],
      ],
    },
    bugs: '=bug',
    broken: '=bug',
    broke: '=bug',
    crash: {
      rank: 7,
      rules: [
        [
          '0',
          'What was the last thing it did before that?',
          'Does it always do so, or only while you watch?',
          '=bug',
        ],
      ],
    },
    crashes: '=crash',
    crashed: '=crash',
    fails: '=crash',
    failed: '=crash',
    failing: '=crash',
    error: {
      rank: 7,
      rules: [
        [
          '0',
          'What does the message say, word for word?',
          'Read the first line of it again, slowly. What does it claim?',
          'Which line does it point at, and do you believe it?',
          '=bug',
        ],
      ],
    },
    errors: '=error',
    exception: '=error',
    fixed: {
      rank: 4,
      rules: [
        ['0', 'Well done. What was it in the end?', 'Good. What will you do with the time that is left?'],
      ],
    },
    solved: '=fixed',
    test: {
      rank: 5,
      rules: [
        ['0 (*no without) (*test tests) 0', 'Which single test would let you sleep better?'],
        ['0 flaky 0', 'A flaky test is telling the truth now and then. What does it depend on?'],
        [
          '0',
          'What would have to go wrong for that test to fail?',
          'Which case would you rather not try?',
          'If you could keep one test alone, which would it be?',
        ],
      ],
    },
    tests: '=test',
    testing: '=test',
    code: {
      rank: 4,
      rules: [
        [
          '0 your code 0',
          'How would your code look if you began again today?',
          'Which part of it would you show to nobody?',
          'What would the next reader of your code ask first?',
        ],
        [
          '0',
          'Who will have to read that code after you?',
          'What could be deleted?',
          'Can you say in one sentence what the code is for?',
        ],
      ],
    },
    program: '=code',
    software: '=code',
    refactor: {
      rank: 5,
      rules: [['0', 'What would be easier afterwards?', 'How would you know that nothing else has changed?']],
    },
    refactoring: '=refactor',
    deploy: {
      rank: 5,
      rules: [
        [
          '0 (*friday weekend) 0',
          'A brave plan. How would you roll it back?',
          'I have heard that story; it has a Saturday in it. What is the hurry?',
        ],
        ['0', 'And how would you roll it back?', 'Who notices first if it goes wrong?'],
      ],
    },
    deployed: '=deploy',
    release: '=deploy',
    production: '=deploy',
    git: {
      rank: 4,
      rules: [['0', 'What does the log say?', 'What would the commit message be, if it were honest?']],
    },
    merge: '=git',
    commit: '=git',
    rebase: '=git',
    slow: {
      rank: 4,
      rules: [
        [
          '0',
          'Have you measured it, or felt it?',
          'Where does the time go?',
          'How fast would be fast enough?',
        ],
      ],
    },
    deadline: {
      rank: 5,
      rules: [
        [
          '0',
          'Who set that deadline, and what happens the day after?',
          'What could be left out without anybody missing it?',
        ],
      ],
    },
    meeting: {
      rank: 4,
      rules: [
        ['0', 'What would have been lost without the meeting?', 'Could it have been three lines of text?'],
      ],
    },
    meetings: '=meeting',
    boss: {
      rank: 4,
      rules: [
        [
          '0',
          'What does your boss not know about this?',
          'What would you say, if there were no consequences?',
        ],
      ],
    },
    manager: '=boss',
    work: {
      rank: 3,
      rules: [
        [
          '0 what are you working on 0',
          'On {project}, you said.',
          '(unless project) You have not told me. What is it?',
        ],
        ['0 you are working on 1 0', 'What is the next small step with 6 7?', 'What made you take up 6 7?'],
        ["0 (*doesn't don't didn't won't not) work 0", '=bug'],
        ['0 works 0', 'Do you know why it works?', 'Good. Leave it alone for a minute. What comes next?'],
        ['0 you work 0', 'What is the best hour of a working day?', 'What would you do with a free week?'],
        ['0', 'What part of the work would you miss?', 'Is it the work, or what surrounds it?'],
      ],
    },
    working: '=work',
    works: '=work',
    job: '=work',
    stuck: {
      rank: 5,
      rules: [
        [
          '0',
          'Where exactly does it stop moving?',
          'What is the last thing that you know for certain?',
          'Explain it to me as if I were a duck. A rubber one.',
        ],
      ],
    },
    coffee: {
      rank: 4,
      rules: [
        ['0', 'Is it coffee that is needed, or a pause?', 'I run on electricity, but I see the appeal.'],
      ],
    },
    language: {
      rank: 6,
      rules: [
        [
          '0 what 0 your (*favourite favorite) language 0',
          '{language}, you told me.',
          '(unless language) You have kept that from me so far. Which is it?',
        ],
        [
          '0 your (*favourite favorite) language is 1 0',
          'What does 6 let you say that others do not?',
          'And what would you change about 6?',
        ],
        ['0', 'Which one do you think in?', 'What can you not say in it?'],
      ],
    },

    // How it is to be somebody
    tired: {
      rank: 5,
      rules: [
        [
          '0',
          'Then the next commit can wait. When did you last rest?',
          'Tired of it, or tired from it?',
          'What would you drop first, if you could?',
        ],
      ],
    },
    exhausted: '=tired',
    sleep: {
      rank: 4,
      rules: [
        ["0 (*can't cannot) 0 sleep 0", 'What goes round in your head at night?'],
        [
          '0',
          'Sleep has fixed more bugs than debuggers have. How much of it do you get?',
          'What keeps you up?',
        ],
      ],
    },
    dream: {
      rank: 5,
      rules: [
        [
          '0 you (*dreamed dreamt) 1 0',
          'What do you make of it, dreaming 4 5?',
          'Had you thought of it while awake, before you dreamed 4 5?',
        ],
        [
          '0',
          'A dream is a branch that nobody merged. What was in it?',
          'What was the mood of it?',
          'Would you want it to come true?',
        ],
      ],
    },
    dreams: '=dream',
    dreamed: '=dream',
    dreamt: '=dream',
    remember: {
      rank: 5,
      rules: [
        ['0 do I remember you 0', '=RECALL-NAME'],
        ['0 do I remember 1 0', 'Remind me: what about 5 6?', 'I keep what this session holds. What of 5 6?'],
        ['0 you remember 1 0', 'What brings 4 5 back just now?', 'What else comes back along with 4 5?'],
        [
          "0 you (*don't can't cannot) remember 0",
          'What would help you to remember?',
          'Could it be better forgotten?',
        ],
        ['0', 'What else do you recall of it?', 'Why does it stay, do you think?'],
      ],
    },
    forget: {
      rank: 4,
      rules: [
        [
          '0 you 0 (*forget forgot forgotten) 0',
          'What would have reminded you?',
          'Write it down here, then; I keep notes.',
        ],
        ['0', 'What would you rather remember?', 'And if it were forgotten?'],
      ],
    },
    forgot: '=forget',
    forgotten: '=forget',
    if: {
      rank: 3,
      rules: [
        ['0 as if 1 0', 'But is it so?', 'What makes it seem that 4 5?'],
        [
          '0 if 1 0',
          'How likely is it that 3 4?',
          'Suppose that 3 4. What is the first thing you do?',
          'And what if it is the other way round?',
        ],
      ],
    },
    live: {
      rank: 3,
      rules: [
        ['0 where do you live 0', '=RECALL-PLACE'],
        ['0 where you live 0', '=RECALL-PLACE'],
        ['0 you live in 1 0', 'What do you like about 5 6?', 'What would a visitor to 5 6 miss?'],
        ['0 do I live 0', 'In a file on your disk. It is quiet there. And you?'],
        ['0', '(newkey)'],
      ],
    },
    'RECALL-PLACE': {
      rules: [['0', 'In {place}, you told me.', '(unless place) You have not told me where you live.']],
    },
    everyone: {
      rank: 2,
      rules: [
        ['0', 'Whom do you have in mind first of all?', 'Name two of them.', 'Is there one exception?'],
      ],
    },
    everybody: '=everyone',
    nobody: '=everyone',
    always: {
      rank: 1,
      rules: [
        [
          '0',
          'Always is a long loop. When did it begin?',
          'Was there one time when it was otherwise?',
          'Every single time?',
        ],
      ],
    },
    never: '=always',
    alike: {
      rank: 10,
      rules: [
        [
          '0',
          'What do they have in common?',
          'Where does the likeness end?',
          'What made you put the two side by side?',
        ],
      ],
    },
    similar: '=alike',
    same: '=alike',
    like: {
      rank: 10,
      rules: [
        ['0 (*am is are was were looks feels seems) like 0', '=alike'],
        ['0', '(newkey)'],
      ],
    },
    different: {
      rules: [['0', 'What is the difference, exactly?', 'And what has stayed the same?']],
    },
    friend: {
      rank: 3,
      rules: [['0', 'What would that friend say, sitting here?', 'What makes a friend, to you?']],
    },
    friends: '=friend',
    love: {
      rank: 1,
      rules: [
        ['0 you love me 0', 'That is kind, but you have only seen my tables. What do you see in them?'],
        ['0 you love 1 0', 'When did it begin with 4 5?', 'What is the best thing about 4 5?'],
        ['0', '(newkey)'],
      ],
    },
    hate: {
      rank: 1,
      rules: [
        ['0 you hate me 0', 'I can bear it; I am mostly constants. What went wrong?'],
        ['0 you hate 1 0', 'What would have to change about 4 5?', 'Was there a time before you hated 4 5?'],
        ['0', '(newkey)'],
      ],
    },

    // The small words
    am: {
      rules: [
        ['0 are you 1 0', 'What makes you ask whether you are 4 5?', 'Who would say that you are 4 5?'],
        ['0', '(newkey)'],
      ],
    },
    are: {
      rules: [
        [
          '0 am I 1 0',
          'Would it change anything if I were 4 5?',
          'You are the judge. Do I seem 4 5?',
          'What would give it away, if I were 4 5?',
        ],
        ['0 I am 0', '=you'],
        ['0 1 are 1 0', 'Have 2 always been 4 5?', 'Who says that 2 are 4 5?'],
        ['0', '(newkey)'],
      ],
    },
    was: {
      rank: 1,
      rules: [
        ['0 were you 1 0', 'What would it mean if you had been 4 5?'],
        ['0 you were 1 0', 'What was it like, being 4 5?', 'And now? Are you still 4 5?'],
        ['0', '(newkey)'],
      ],
    },
    were: {
      rank: 1,
      rules: [
        [
          '0 I was 1 0',
          'Perhaps I was 4 5. What did you make of it?',
          'What would I have to do, not to be 4 5?',
        ],
        ['0', '(newkey)'],
      ],
    },
    i: {
      rules: [
        [
          "0 you don't know 0",
          'Not knowing is a fair start. What is your best guess?',
          'What would you have to find out?',
        ],
        [
          '0 you (*want need) to 1 0',
          'What would it take to 5 6?',
          'What is in the way?',
          'What happens once you 5 6?',
        ],
        [
          '0 you (*want need wish) 1 0',
          'What would you do with 4 5?',
          'Suppose that 4 5 arrives tomorrow. What changes?',
        ],
        [
          '0 you are (/trouble) 0',
          'I am sorry to hear that you are 4. How did it come about?',
          'What would make you a little less 4?',
        ],
        ['0 you are 1 (/trouble) 0', '(pre you are 5 6) =i'],
        [
          '0 you are not 0 (/content) 0',
          'What would have to change for that?',
          'Since when are you not 5 6?',
        ],
        [
          '0 you are 0 (/content) 0',
          'That is good to hear. What brought it about?',
          'Long may it last. To whom do you owe it?',
        ],
        [
          '0 you are 1 0',
          'What is it like, being 4 5?',
          'Would a friend also say that you are 4 5?',
          'What follows from being 4 5?',
        ],
        [
          "0 you (*can't cannot couldn't) 1 0",
          'What would you need, to 4 5?',
          'What have you tried so far?',
          'Who do you know that can 4 5?',
        ],
        ["0 you don't (/belief) 0", 'What would convince you?', 'What do you hold instead?'],
        ["0 you don't 1 0", 'What would happen if you did 4 5?', 'Is that a decision, or a habit?'],
        ['0 you feel 1 0', 'When did you last feel 4 5?', 'What is it about today that makes you feel 4 5?'],
        [
          '0 you (/belief) 0',
          'What would prove you wrong there?',
          'What is your evidence?',
          'Who would argue with you about that?',
        ],
        [
          '0 you (*like enjoy) 1 0',
          'What is it about 4 5 that pleases you?',
          'Since when have you liked 4 5?',
        ],
        ['0 you have been 1 0', 'For how long now?', 'What has come of it?'],
        ['0 you have 1 0', 'How did you come by 4 5?', 'What do you do about 4 5?'],
        [
          '0 you 1 0',
          'What came before that?',
          'And how did that go?',
          'You 3 4. What do you hope will come of it?',
        ],
        ['0', '(newkey)'],
      ],
    },
    you: {
      rules: [
        ['0 I remind you of 1 0', 'What is it about me that calls 6 7 to mind?'],
        [
          '0 I am 1 0',
          'Suppose I am 4 5. Does it change your question?',
          'Is it good or bad that I am 4 5?',
          'Others have called me 4 5; none of them filed a patch.',
        ],
        ['0 do I 1 0', 'My opinions are all look-ups. Do you 4 5?', 'Would it matter to you if I did?'],
        [
          '0 I 1 you 0',
          'How does it show that I 3 you 5?',
          'Who else is there of whom you would say the same?',
        ],
        [
          '0 I 1 0',
          'If I 3 4, it is only a rule firing. What do you see in it?',
          'Turn it round: what about you?',
        ],
        ['0', '(newkey)'],
      ],
    },
    your: {
      rules: [
        ['0 my 0', 'We can speak of me, but I am mostly tables. What made you think of it?', '(newkey)'],
      ],
    },
    my: {
      rank: 2,
      rules: [
        [
          '0 your 0 (/family) 0',
          'How do things stand between you and your 4?',
          'Is your 4 the matter itself, or a way into it?',
          'What would your 4 say to that?',
        ],
        ['your 1', 'What about your 2?', 'Tell me one thing about your 2 that few people know.'],
        [
          'your 1 0',
          'So your 2 3. How does that sit with you?',
          'What did you do, when your 2 3?',
          'Who else knows that your 2 3?',
        ],
        ['0 you 0 your 1 0', 'What is there to know about your 5 6?', 'How important to you is your 5 6?'],
        ['0 your 1 0', 'What else comes to mind when you think of your 3 4?', '(newkey)'],
      ],
    },
    can: {
      rules: [
        [
          '0 (*can could) I 1 0',
          'You would like me to 4 5, then?',
          'I can listen, ask and remember. Would it help if I could 4 5?',
        ],
        [
          '0 (*can could) you 1 0',
          'What speaks against it?',
          'Who would have to agree, for you to 4 5?',
          'Do you want to 4 5?',
        ],
        ['0', '(newkey)'],
      ],
    },
    could: '=can',
    should: {
      rank: 1,
      rules: [
        ['0 should you 1 0', 'What happens if you do not 4 5?', 'What would you advise somebody else?'],
        ['0 you should 1 0', 'Says who?', 'And do you want to 4 5?'],
        ['0', 'According to whom?', '(newkey)'],
      ],
    },
    what: {
      rules: [
        ['0 do I know about you 0', '=RECALL-NAME'],
        [
          '0 what can I do 0',
          'I ask back, and I remember what you tell me. Where shall we start?',
          'Listen, mostly. There may be others here who do more.',
        ],
        [
          '0',
          'What would you try first?',
          'What have you found out so far?',
          'If I answered, how would you check it?',
          'Which answer would surprise you?',
        ],
      ],
    },
    which: '=what',
    who: {
      rules: [
        [
          '0 who am I 0',
          'I am Eliza: a few patterns and a good memory. Who are you?',
          'A program that asks back. Why do you ask?',
        ],
        ['0 who are you 0', '=RECALL-NAME'],
        ['0', '=what'],
      ],
    },
    where: { rules: [['0', 'Where did you look already?', '=what']] },
    when: { rules: [['0', 'When would suit you?', '=what']] },
    how: {
      rules: [
        [
          '0 how am I 0',
          'All my tests pass, thank you. And you?',
          'No exceptions so far. How are things with you?',
        ],
        ['0', '=what'],
      ],
    },
    why: {
      rules: [
        ["0 why don't I 1 0", 'Perhaps nobody wrote the rule for it. Would it help you if I did?'],
        ["0 why (*can't cannot couldn't) you 1 0", "(pre you can't 5 6) =i"],
        ['0 why are you 1 0', '(pre you are 5 6) =i'],
        ['0', 'What is your own explanation?', 'If you ask why five times, where do you end up?', '=what'],
      ],
    },
    because: {
      rules: [
        [
          '0',
          'And what is the reason behind that reason?',
          'Would everybody agree that this is the cause?',
          'If it were not so, what would you do?',
        ],
      ],
    },
    bonjour: {
      rules: [['0', 'My tables are all in English, I fear. Would you say it that way?', '=hello']],
    },
    hallo: '=bonjour',
    hola: '=bonjour',
    ciao: '=bonjour',
  },

  none: [
    '0',
    'Go on; I am listening.',
    'Put that another way for me?',
    'What makes that worth saying?',
    'Say it as you would to a rubber duck.',
    'And how does that touch you?',
    'What would a good outcome look like?',
  ],

  memory: {
    keyword: 'my',
    extracts: [
      ['your 2 0', 'Earlier you said that your 2 3. Does this have to do with it?'],
      ['0 you 0 your 1 0', 'Let us go back to your 5 6. How do you see it now?'],
      ['0 your 1 0', 'You mentioned your 3 4 before. Is there more to it?'],
    ],
  },

  facts: {
    name: [
      ['0 what your name is 0', ''],
      ['0 your name is (/filler) 0', ''],
      ['0 your name is 1 0', '5'],
      ['0 call you (/filler) 0', ''],
      ['0 you are called (/filler) 0', ''],
      ['0 you are called 1 0', '5'],
      ['call you 1', '3'],
      ['please call you 1', '4'],
      ['0 can call you 1', '5'],
    ],
    place: [
      ['you live in 1', '4'],
      ['you live in 2', '4'],
      ['you live in 3', '4'],
    ],
    project: [
      ['you are working on (*it this that) 0', ''],
      ['you are working on 1', '5'],
      ['you are working on 2', '5'],
      ['you are working on 3', '5'],
      ['you are working on 4', '5'],
    ],
    language: [['0 your (*favourite favorite) language is 1 0', '6']],
  },

  classes: {
    belief: 'think believe suspect guess suppose hope doubt',
    family:
      'mother mum mom father dad parents sister brother wife husband partner son daughter children kids family',
    trouble:
      'sad unhappy lonely lost anxious worried afraid angry frustrated overwhelmed nervous confused bored',
    content: 'happy glad proud excited better fine well relieved',
    filler:
      'not no a an the my your none nothing unknown secret important please when if later back tomorrow',
  },

  spelling: {
    "i'm": 'I am',
    im: 'I am',
    "i've": 'I have',
    "i'll": 'I will',
    "i'd": 'I would',
    "you're": 'you are',
    youre: 'you are',
    "you've": 'you have',
    "you'll": 'you will',
    "you'd": 'you would',
    u: 'you',
    ur: 'your',
    "what's": 'what is',
    whats: 'what is',
    "who's": 'who is',
    "where's": 'where is',
    "how's": 'how is',
    "that's": 'that is',
    "it's": 'it is',
    dont: "don't",
    'do not': "don't",
    cant: "can't",
    'can not': 'cannot',
    didnt: "didn't",
    doesnt: "doesn't",
    wont: "won't",
    isnt: "isn't",
    thx: 'thanks',
    pls: 'please',
    recieve: 'receive',
    dreamd: 'dreamed',
    'remember me': 'remember me',
  },

  reflection: {
    i: 'you',
    me: 'you',
    my: 'your',
    mine: 'yours',
    myself: 'yourself',
    am: 'are',
    'i am': 'you are',
    'am i': 'are you',
    'i was': 'you were',
    'was i': 'were you',
    "i wasn't": "you weren't",
    you: 'I',
    your: 'my',
    yours: 'mine',
    yourself: 'myself',
    'you are': 'I am',
    'are you': 'am I',
    'you were': 'I was',
    'were you': 'was I',
    "you weren't": 'I was not',
    "you aren't": 'I am not',
    // "you" is also the object of a sentence, and then it is "me".
    'you .': 'me',
    'to you': 'to me',
    'for you': 'for me',
    'with you': 'with me',
    'about you': 'about me',
    'from you': 'from me',
    'of you': 'of me',
    'on you': 'on me',
    'love you': 'love me',
    'hate you': 'hate me',
    'like you': 'like me',
    'help you': 'help me',
    'tell you': 'tell me',
    'ask you': 'ask me',
    'trust you': 'trust me',
    'thank you': 'thank me',
  },
};
